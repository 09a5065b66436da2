// Record that the feed of a category was read with something new on an announcement day.
// params: rows [{category, day, items, via (rss | api)}]
// returns: n
// mode: write
UNWIND $rows AS r
WITH r, r.category + '|' + r.day AS id ORDER BY id
MERGE (f:Feed {category: r.category})
  ON CREATE SET f.first_day = r.day
MERGE (d:FeedDay {id: id})
  ON CREATE SET d.category = r.category, d.day = r.day, d.first_at = timestamp()
SET d.items = r.items, d.via = r.via, d.last_at = timestamp()
RETURN count(d) AS n
