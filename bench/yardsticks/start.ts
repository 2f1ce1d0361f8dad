import { Database } from 'bun:sqlite'

/** A bare server that opens the same database and answers its newest price. */
const { database, code, port } = JSON.parse(process.argv[2]!) as {
  database: string
  code: string
  port: number
}
const db = new Database(database, { readonly: true })
const newest = db.query(
  'SELECT s.code, o.observed_at, o.value FROM series s JOIN observations o ON o.series_id = s.id WHERE s.code = ? ORDER BY o.observed_at DESC LIMIT 1',
)

Bun.serve({
  port,
  hostname: '127.0.0.1',
  development: false,
  fetch: request =>
    request.url.endsWith('/health') ? new Response('ok') : Response.json(newest.get(code)),
})
