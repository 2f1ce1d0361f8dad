import { Database } from 'bun:sqlite'

/** Fields that all rows of a series share, taken from Wellhead's own response. */
export interface SeriesFields {
  code: string
  name: string
  currency: string
  unit: string
  type: string
  source: string
  /** The decimals of a price of the series. */
  decimals: number
  /** Before and after the number of a price. */
  sign: [before: string, after: string]
}

export interface Settings {
  database: string
  /** A PostgreSQL server with the same rows, instead of the database. */
  postgres?: string
  /** A DuckDB file with the same rows, instead of the database, and where its driver is. */
  duckdb?: { driver: string; file: string }
  tokens: string[]
  series: SeriesFields[]
  /** Headers of Wellhead's own responses. */
  headers: Record<string, string>
  /** Wellhead's own answer for the newest price of each code: sent as it is, unread. */
  latest?: Record<string, string>
}

type Interval = 'raw' | 'hour' | 'day'

interface Row {
  at: number
  value: number
  recorded_at: number
  starts_at?: number
  open: number
  high: number
  low: number
  average: number
  count: number
}

const hourMs = 3_600_000

/** Wellhead stores hours only where a day has more than two values of each, so these are half-hours. */
const valuesOfHours = 200

const queries: Record<Interval, string> = {
  raw: `SELECT observed_at AS at, value, recorded_at FROM observations
    WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3
    ORDER BY observed_at DESC LIMIT 100`,
  hour: `SELECT observed_at AS at, value, recorded_at FROM observations
    WHERE series_id = ?1 AND observed_at >= ?2 AND observed_at < ?3
    ORDER BY observed_at DESC LIMIT ${valuesOfHours}`,
  // A bar of one observation has its close alone.
  day: `SELECT closed_at AS at, close AS value, recorded_at, starts_at, coalesce(open, close) AS open,
      coalesce(high, close) AS high, coalesce(low, close) AS low,
      coalesce(sum, close) / coalesce(count, 1) AS average, coalesce(count, 1) AS count FROM bars
    WHERE series_id = ?1 AND span = 24 AND starts_at >= ?2 AND starts_at < ?3
    ORDER BY starts_at DESC LIMIT 100`,
}

/** The hours of values that are newest first. */
function hoursOf(values: readonly Row[]): Row[] {
  const hours: Row[] = []
  for (const { at, value, recorded_at } of values) {
    const starts_at = at - (at % hourMs)
    const hour = hours.at(-1)
    if (hour?.starts_at !== starts_at) {
      const [open, high, low, average] = [value, value, value, value]
      hours.push({ at, value, recorded_at, starts_at, open, high, low, average, count: 1 })
      continue
    }
    hour.open = value
    hour.high = Math.max(hour.high, value)
    hour.low = Math.min(hour.low, value)
    hour.recorded_at = Math.max(hour.recorded_at, recorded_at)
    hour.average = (hour.average * hour.count + value) / (hour.count + 1)
    hour.count += 1
  }
  return hours
}

const latestQuery = `SELECT observed_at AS at, value, recorded_at FROM observations
  WHERE series_id = ?1 ORDER BY observed_at DESC LIMIT 1`

type Read = (interval: Interval | 'latest', code: string, from: number, to: number) => MaybeRows
type MaybeRows = Row[] | Promise<Row[]>

function fromSqlite(database: string): Read {
  const db = new Database(database, { readonly: true })
  const ids = new Map(
    db
      .query<{ code: string; id: number }, []>('SELECT code, id FROM series')
      .all()
      .map(row => [row.code, row.id]),
  )
  const statements = {
    raw: db.query<Row, number[]>(queries.raw),
    hour: db.query<Row, number[]>(queries.hour),
    day: db.query<Row, number[]>(queries.day),
    latest: db.query<Row, number[]>(latestQuery),
  }
  return (interval, code, from, to) => {
    const id = ids.get(code)!
    if (interval === 'latest') return statements.latest.all(id)
    const rows = statements[interval].all(id, from, to)
    return interval === 'hour' ? hoursOf(rows) : rows
  }
}

/** Computes bars from the rows, because none are stored there. */
function fromPostgres(url: string): Read {
  const sql = new Bun.SQL(url, { max: 4 })
  const numbers = (rows: Row[]) =>
    rows.map(row => ({ ...row, at: Number(row.at), recorded_at: Number(row.recorded_at) }))
  return async (interval, code, from, to) => {
    if (interval === 'latest')
      return numbers(
        await sql`SELECT at, value, recorded_at FROM prices WHERE code = ${code}
          ORDER BY at DESC LIMIT 1`,
      )
    if (interval === 'raw')
      return numbers(
        await sql`SELECT at, value, recorded_at FROM prices
          WHERE code = ${code} AND at >= ${from} AND at < ${to} ORDER BY at DESC LIMIT 100`,
      )
    const span = interval === 'day' ? 86_400_000 : 3_600_000
    return numbers(
      await sql`SELECT max(at) AS at, (array_agg(value ORDER BY at DESC))[1] AS value,
          max(recorded_at) AS recorded_at, at / ${span} * ${span} AS starts_at,
          (array_agg(value ORDER BY at))[1] AS open, max(value) AS high, min(value) AS low,
          avg(value) AS average, count(*)::int AS count
        FROM prices WHERE code = ${code} AND at >= ${from} AND at < ${to}
        GROUP BY 4 ORDER BY 4 DESC LIMIT 100`,
    ).map(row => ({ ...row, starts_at: Number(row.starts_at) }))
  }
}

interface DuckDb {
  DuckDBInstance: {
    create(file: string): Promise<{
      connect(): Promise<{
        runAndReadAll(
          sql: string,
          values: Record<string, unknown>,
        ): Promise<{ getRowObjectsJS(): Record<keyof Row, unknown>[] }>
      }>
    }>
  }
}

/** As those of PostgreSQL; it reads columns, so one row costs as much as many. */
async function fromDuckdb({ driver, file }: NonNullable<Settings['duckdb']>): Promise<Read> {
  const { DuckDBInstance } = (await import(driver)) as DuckDb
  const connection = await (await DuckDBInstance.create(file)).connect()
  const rows = async (sql: string, values: Record<string, unknown>) => {
    const found = (await connection.runAndReadAll(sql, values)).getRowObjectsJS()
    return found.map(
      row =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, Number(value)]),
        ) as unknown as Row,
    )
  }
  return (interval, code, from, to) => {
    if (interval === 'latest')
      return rows(
        'SELECT "at", value, recorded_at FROM prices WHERE code = $code ORDER BY "at" DESC LIMIT 1',
        { code },
      )
    const range = 'code = $code AND "at" >= $from::BIGINT AND "at" < $to::BIGINT'
    if (interval === 'raw')
      return rows(
        `SELECT "at", value, recorded_at FROM prices WHERE ${range} ORDER BY "at" DESC LIMIT 100`,
        { code, from, to },
      )
    const span = interval === 'day' ? 86_400_000 : 3_600_000
    return rows(
      `SELECT max("at") AS "at", arg_max(value, "at") AS value, max(recorded_at) AS recorded_at,
         "at" // ${span} * ${span} AS starts_at, arg_min(value, "at") AS open, max(value) AS high,
         min(value) AS low, avg(value) AS average, count(*) AS count
       FROM prices WHERE ${range} GROUP BY 4 ORDER BY 4 DESC LIMIT 100`,
      { code, from, to },
    )
  }
}

const dayMs = 86_400_000
const startOf = (text: string) => Date.parse(text)
/** The day or second that a range ends with belongs to it. */
const endOf = (text: string) => Date.parse(text) + (text.length === 10 ? dayMs : 1000)

/**
 * A bare server: it finds the key in a Map, reads the parameters, runs one prepared query, gives the
 * rows the fields of the API and stringifies them.
 */
async function serve(settings: Settings) {
  const { database, postgres, duckdb, tokens, series, headers, latest } = settings
  const read =
    postgres !== undefined
      ? fromPostgres(postgres)
      : duckdb
        ? await fromDuckdb(duckdb)
        : fromSqlite(database)
  const accounts = new Set(tokens)
  const fields = new Map(series.map(entry => [entry.code, entry]))
  const instant = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')
  const rounded = (value: number, places: number) => Number(value.toFixed(places))
  const rowOf = ({ decimals, sign, source, code, name, ...rest }: SeriesFields) => {
    const shared = { ...rest, source, data_source: source }
    return (row: Row) => ({
      code,
      name,
      price: rounded(row.value, decimals),
      formatted: sign[0] + row.value.toFixed(decimals) + sign[1],
      ...shared,
      created_at: instant(row.at),
      updated_at: instant(row.recorded_at),
      ...(row.starts_at !== undefined && {
        bucket_start: instant(row.starts_at),
        open: rounded(row.open, decimals),
        high: rounded(row.high, decimals),
        low: rounded(row.low, decimals),
        average: rounded(row.average, decimals + 2),
        sample_count: row.count,
      }),
    })
  }
  const windowBody = (code: string, interval: Interval, from: number, to: number, rows: Row[]) => ({
    status: 'success',
    data: {
      prices: rows.map(rowOf(fields.get(code)!)),
      metadata: {
        codes: [code],
        interval,
        interval_requested: interval,
        downsampled: false,
        from: instant(from),
        to: instant(to - 1),
        timezone: 'UTC',
        count: rows.length,
        source_description: fields.get(code)!.source,
      },
    },
    meta: {
      page: 1,
      per_page: 100,
      total: rows.length,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    },
  })
  const answer = (body: unknown) => new Response(JSON.stringify(body), { headers })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch(request) {
      const token = request.headers.get('authorization')?.slice('Token '.length) ?? ''
      if (!accounts.has(token)) return new Response(null, { status: 401 })
      const { pathname, searchParams } = new URL(request.url)
      const code = searchParams.get('by_code')!
      if (pathname === '/v1/prices/latest') {
        if (latest) return new Response(latest[code], { headers })
        const newest = (rows: Row[]) =>
          answer({ status: 'success', data: rowOf(fields.get(code)!)(rows[0]!) })
        const rows = read('latest', code, 0, 0)
        return rows instanceof Promise ? rows.then(newest) : newest(rows)
      }
      const interval = searchParams.get('interval') as Interval
      const from = startOf(searchParams.get('start_date')!)
      const to = endOf(searchParams.get('end_date')!)
      const rows = read(interval, code, from, to)
      return rows instanceof Promise
        ? rows.then(found => answer(windowBody(code, interval, from, to, found)))
        : answer(windowBody(code, interval, from, to, rows))
    },
  })
  console.log(server.port)
}

if (import.meta.main) await serve(JSON.parse(process.argv[2]!) as Settings)
