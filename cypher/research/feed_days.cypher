// The announcement days that were read of some categories in a range of days (`YYYY-MM-DD`, both ends included).
// params: categories, look_back (days before the database's today)
// returns: category, first_day (null: never read), days [read ones in the range], today
// mode: read
WITH date(datetime({epochMillis: timestamp()})) AS today
UNWIND $categories AS category
OPTIONAL MATCH (f:Feed {category: category})
CALL (category, today) {
  UNWIND range(1, $look_back) AS back
  MATCH (d:FeedDay {id: category + '|' + toString(today - duration({days: back}))})
  RETURN collect(d.day) AS days
}
RETURN category, f.first_day AS first_day, days, toString(today) AS today
