import { afterAll, expect } from 'bun:test'
import { type Compressors, parquetReadObjects } from 'hyparquet'
import { parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { standIn } from '../../support/publishers/stand-in.ts'

const compressors: Compressors = { ZSTD: (input, _size) => Bun.zstdDecompressSync(input) }
const publishers = await standIn()
afterAll(() => publishers.stop())

needs('../shared/data').test(
  'rows of a feed that may not be redistributed are in endpoints, but in no nightly file and no change',
  async () => {
    const instance = openTestInstance(
      {
        'egress.allow': '127.0.0.0/8',
        'feeds.baker_hughes.base_url': publishers.url,
        'feeds.baker_hughes.license': 'accept',
      },
      parseInstant('2026-08-20T12:00:00Z'),
    )
    const token = instance.key('enterprise')
    const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
    const run = await instance.services.feeds.run('baker_hughes')
    expect({ result: run?.result, problem: run?.problem ?? null }).toEqual({
      result: 'new',
      problem: null,
    })
    const operate = (path: string, body?: unknown) =>
      instance.send(body ? 'POST' : 'GET', `/admin/v1/${path}`, body, undefined, { authorization })
    const fileRows = async () => {
      const file = await (await operate('datasets/rig-counts/file')).arrayBuffer()
      return await parquetReadObjects({ file, compressors })
    }
    const changes = async () => {
      const answer = await instance.get('/v1/changes?since=start&dataset=rig-counts', token)
      return ((await answer.json()) as { data: { changes: { key: { region: string } }[] } }).data
        .changes
    }
    const listed = await instance.get('/v1/ei/rig_counts', token)
    expect((await listed.json()) as { data: unknown[] }).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ source: 'Baker Hughes' })]),
    })
    expect(await fileRows()).toEqual([])
    expect(await changes()).toEqual([])

    // What the operator brings is the operator's to pass on, also where it replaces a row of the feed.
    const [latest] = instance.services.db
      .query<{ date: string; oil: number; gas: number; misc: number }, []>(
        "SELECT counted_on AS date, oil + 1 AS oil, gas, misc FROM rig_counts WHERE region = 'US' ORDER BY 1 DESC LIMIT 1",
      )
      .all()
    const row = { ...latest, region: 'US', source: 'Own survey' }
    const pushed = await operate('datasets/rig-counts', { rows: [row] })
    expect(await pushed.json()).toMatchObject({ data: { revised: 1 } })
    expect((await fileRows()).map(row => [row.region, row.source])).toEqual([['US', 'Own survey']])
    expect((await changes()).map(({ key }) => key.region)).toEqual(['US'])
  },
  60_000,
)
