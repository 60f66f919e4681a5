//! Reads lists: pages, counts and single records.

use db::{BatchLoader, Conn, Error, Query, Timestamp, span_of};

use super::{AccessPath, DrivingTerm, QueryStats, Selection, push_column, push_table};
use crate::{
    State,
    listing::{List, Matches, PageRange},
    rest::{
        Refusal,
        page::{Page, PageRequest},
        query::Parameters,
    },
};

impl<T> List<T> {
    pub(crate) async fn find(&self, conn: &mut Conn, id: i64) -> Result<Option<T>, Error> {
        let mut query = self.records_by_id();
        conn.optional_of(query.push(" = ").bind(id), self.read)
            .await
    }

    /// Finds single records, those of several callers by one statement.
    pub(crate) fn loader(&self) -> BatchLoader<T> {
        BatchLoader::of(self.records_by_id().text(), self.read)
    }

    /// The records with these ids, unordered.
    pub(crate) async fn of_ids(&self, conn: &mut Conn, ids: &[i64]) -> Result<Vec<T>, Error> {
        let mut query = self.records_by_id();
        conn.all_of(query.any_of(ids.iter().copied()), self.read)
            .await
    }

    /// The next records after an id, ordered by id.
    pub(crate) async fn after(
        &self,
        conn: &mut Conn,
        id: i64,
        limit: i64,
    ) -> Result<Vec<T>, Error> {
        let mut query = self.records_by_id();
        query.push(" > ").bind(id);
        push_column(query.push(" ORDER BY "), self.own, self.own.id);
        conn.all_of(query.push(" LIMIT ").bind(limit), self.read)
            .await
    }

    /// Begins a statement that selects records by a comparison of their ids.
    fn records_by_id(&self) -> Query {
        let mut query = Query::new("SELECT ");
        self.push_columns(&mut query);
        push_table(query.push(" FROM "), self.own);
        self.push_joins(&mut query);
        push_column(query.push(" WHERE "), self.own, self.own.id);
        query
    }

    /// The creation times of the first and of the last record.
    pub(crate) async fn span(
        &self,
        state: &State,
    ) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        let mut query = Query::new("SELECT min(created_at), max(created_at) FROM ");
        query.push(self.own.name);
        let read = async move |conn: &mut Conn| conn.one_of(&query, span_of).await;
        Ok(state.db.read(read).await?)
    }
}

impl<T: 'static> Selection<T> {
    pub(crate) async fn page(
        &self,
        conn: &mut Conn,
        stats: &QueryStats,
        (limit, offset): PageRange,
    ) -> Result<Vec<T>, Error> {
        if stats.count == 0 {
            return Ok(Vec::new());
        }
        let rows_needed = limit.saturating_add(offset).unsigned_abs();
        let path = self.access_path(stats, rows_needed);
        let query = self.statement(Query::new(""), conn.engine(), stats, path, (limit, offset));
        let records = conn.all_of(&query, self.list.read).await?;
        let left = stats.count.saturating_sub(offset.unsigned_abs());
        let is_whole = records.len() as u64 >= left.min(limit.unsigned_abs());
        match self.walk(stats) {
            // The skip scan stopped at its limit of values.
            Some(walk) if path == AccessPath::SkipScan && !is_whole => {
                let path = AccessPath::Walk(walk);
                let begin = Query::new("");
                let query = self.statement(begin, conn.engine(), stats, path, (limit, offset));
                conn.all_of(&query, self.list.read).await
            }
            _ => Ok(records),
        }
    }

    /// Calls `take` with each record, without collecting them.
    pub(crate) async fn each(
        &self,
        conn: &mut Conn,
        stats: &QueryStats,
        mut take: impl FnMut(&T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // A skip scan has a limit of values, so it cannot read all records.
        let path = match (self.access_path(stats, stats.count), self.walk(stats)) {
            (AccessPath::SkipScan, Some(walk)) => AccessPath::Walk(walk),
            (path, _) => path,
        };
        let all = i64::try_from(stats.count).unwrap_or(i64::MAX);
        let query = self.statement(Query::new(""), conn.engine(), stats, path, (all, 0));
        // The rows are units, so the vector needs no memory.
        let each = conn.all_of(&query, |row| take(&(self.list.read)(row)?));
        each.await.map(drop)
    }

    pub(crate) async fn count(
        &self,
        conn: &mut Conn,
        driving: Option<&DrivingTerm>,
    ) -> Result<u64, Error> {
        let (table, conditions) = self.source(driving);
        let mut query = Query::new("SELECT count(");
        if driving.is_none_or(|driving| driving.entries_of_one == 1) {
            query.push("*");
        } else {
            push_column(query.push("DISTINCT "), table, table.id);
        }
        query.push(") FROM ");
        push_table(&mut query, table);
        self.push_conditions(&mut query, conn.engine(), table, &conditions, |_| true);
        let count = conn.one_of(&query, |row| row.get::<i64>(0)).await?;
        Ok(count.unsigned_abs())
    }

    pub(crate) async fn count_up_to(&self, conn: &mut Conn, most: i64) -> Result<u64, Error> {
        let own = self.list.own;
        let mut query = Query::new("SELECT count(*) FROM (SELECT ");
        push_column(&mut query, own, own.id);
        push_table(query.push(" FROM "), own);
        self.push_conditions(&mut query, conn.engine(), own, &self.conditions, |_| true);
        query.push(" LIMIT ").bind(most).push(") AS counted");
        let count = conn.one_of(&query, |row| row.get::<i64>(0)).await?;
        Ok(count.unsigned_abs())
    }

    /// A range of a long list, and the number of matches. Counting stops at `most`.
    pub(crate) async fn part_of_many(
        &self,
        conn: &mut Conn,
        range: PageRange,
        most: i64,
    ) -> Result<Matches<T>, Error> {
        let count = self.count_up_to(conn, most).await?;
        let stats = if count < most.unsigned_abs() {
            QueryStats::of(count, count)
        } else {
            QueryStats::UNKNOWN
        };
        Ok(Matches {
            count,
            records: self.page(conn, &stats, range).await?,
            is_cut: false,
        })
    }

    pub(crate) async fn list(
        &self,
        conn: &mut Conn,
        stats: &QueryStats,
        request: PageRequest,
    ) -> Result<Page<T>, Refusal> {
        let (number, offset) = request.within(stats.count)?;
        let range = (request.limit(), offset);
        let results = self.page(conn, stats, range).await?;
        Ok(request.page(stats.count, number, results))
    }

    /// As [`Self::list`], but counts the matches first.
    pub(crate) async fn counted(
        &self,
        conn: &mut Conn,
        request: PageRequest,
    ) -> Result<Page<T>, Refusal> {
        let count = self.count(conn, None).await?;
        let stats = QueryStats::of(count, count);
        self.list(conn, &stats, request).await
    }

    /// The first records, without counting.
    pub(crate) async fn first(&self, conn: &mut Conn, limit: i64) -> Result<Vec<T>, Error> {
        self.page(conn, &QueryStats::UNKNOWN, (limit, 0)).await
    }
}

impl<T: Send + 'static> Selection<T> {
    /// The page that the query string requests, in a transaction of its own.
    pub(crate) async fn requested(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<T>, Refusal> {
        let request = PageRequest::parse(state, parameters)?;
        let read = async move |conn: &mut Conn| self.counted(conn, request).await;
        state.db.read(read).await
    }
}
