import { Database } from 'bun:sqlite'
import type { PermitQuestion } from '../rows/permits.ts'

/**
 * A bare server: one prepared query for the number of permits and one for a page of them, over the
 * same file with the same indexes.
 */
const settings = JSON.parse(process.argv[2]!) as { database: string }
const db = new Database(settings.database, { readonly: true })

const columns = {
  state: 'state_id',
  county: 'county_id',
  operator: 'operator_id',
  formation: 'formation_id',
  permit_type: 'permit_type_id',
  well_type: 'well_type_id',
}
const perPage = 25
const earthRadiusMiles = 3958.7613
const milesPerDegree = 69.0934

function answer({ terms, from, to, circle }: PermitQuestion) {
  const where: string[] = []
  const values: (string | number)[] = []
  for (const [kind, name] of Object.entries(terms)) {
    where.push(
      `f.${columns[kind as keyof typeof columns]} = (SELECT id FROM permit_terms WHERE kind = ? AND name = ?)`,
    )
    values.push(kind, name)
  }
  if (from !== undefined && to !== undefined) {
    where.push('f.permit_on >= ? AND f.permit_on < ?')
    values.push(from, to)
  }
  let tables = 'well_permits f'
  if (circle) {
    const { latitude, longitude, radiusMiles } = circle
    const [north, east] = [
      radiusMiles / milesPerDegree,
      radiusMiles / milesPerDegree / Math.cos(((Math.abs(latitude) + 2) * Math.PI) / 180),
    ]
    tables = 'well_permit_places p JOIN well_permits f ON f.id = p.id'
    where.push('p.south >= ? AND p.north <= ? AND p.west >= ? AND p.east <= ?')
    values.push(
      ...[latitude - north, latitude + north, longitude - east, longitude + east].map(degrees =>
        Math.round(degrees * 1e6),
      ),
    )
    where.push(
      `2 * ${earthRadiusMiles} * asin(sqrt(pow(sin(radians(p.south / 1e6 - ?) / 2), 2)
        + cos(radians(?)) * cos(radians(p.south / 1e6)) * pow(sin(radians(p.west / 1e6 - ?) / 2), 2))) <= ?`,
    )
    values.push(latitude, latitude, longitude, radiusMiles)
  }
  const condition = `FROM ${tables} WHERE ${where.join(' AND ')}`
  const { n } = db
    .query<{ n: number }, (string | number)[]>(`SELECT count(*) AS n ${condition}`)
    .get(...values)!
  const rows = db
    .query(
      `SELECT papers.* FROM (SELECT f.id, f.permit_on ${condition} ORDER BY f.permit_on DESC, f.id DESC LIMIT ${perPage}) found
       JOIN well_permit_papers papers ON papers.id = found.id`,
    )
    .all(...values)
  return { total: n, rows }
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  development: false,
  fetch: async request => Response.json(answer((await request.json()) as PermitQuestion)),
})
console.log(server.port)
