import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportOptions, runImport } from '../../../src/cli/data/import.ts'
import { dataOf } from '../../../src/cli/data/writer.ts'
import { pointBlockType } from '../../../src/http/input/body.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-vintages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An instance with a command line; `isRemote`: values are sent to its API. */
async function openDemoInstance(isRemote: boolean) {
  const h = openTestInstance()
  const token = h.key()
  const admin = h.services.adminTokens.rotate()
  const call = async (method: string, path: string, body?: unknown) => {
    const type = body instanceof Uint8Array ? pointBlockType : 'application/json'
    const headers = { authorization: `Bearer ${admin}`, 'content-type': type }
    const answer =
      body === undefined
        ? await h.get(path, undefined, headers)
        : await h.send(method, path, body, undefined, headers)
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  const { catalogue, ingest } = h.services
  const data = await dataOf({
    instance: undefined,
    call,
    fetch: url => h.get(url),
    close() {},
  })
  const writer = isRemote
    ? data.writer
    : { batchMax: 2, write: (points: Parameters<typeof ingest.write>[0]) => ingest.write(points) }
  let files = 0
  return {
    h,
    async load(content: string, options: ImportOptions = {}) {
      files += 1
      const path = join(folder, `${isRemote}-${files}.csv`)
      writeFileSync(path, content)
      const out: string[] = []
      const err: string[] = []
      const code = await runImport([path], options, {
        clock: h.clock,
        catalogue: data.catalogue,
        writer,
        terminal: undefined,
        stdin: noInput(),
        out: line => out.push(line),
        err: line => err.push(line),
      })
      return { code, out: out[0]?.split(': ')[1] ?? '', err: err.join('\n') }
    },
    /** The value for WTI on a day as it was known at a moment. */
    async known(day: string, asOf?: string): Promise<number | undefined> {
      const at = asOf === undefined ? '' : `&as_of=${asOf}`
      const answer = await h.get(
        `/v1/prices/past_day?at=${day}&by_code=WTI_USD&interval=raw${at}`,
        token,
      )
      expect(answer.status).toBe(200)
      const body = (await answer.json()) as { data: { prices: { price: number }[] } }
      return body.data.prices[0]?.price
    },
    series: catalogue.resolve('WTI_USD', startAt)!.series,
  }
}

const vintages = `code,observed_at,price,recorded_at
WTI_USD,2026-06-03,70.3,2026-09-01
WTI_USD,2026-06-03,70.1,2026-06-04T20:00:00Z
WTI_USD,2026-06-03,70.2,2026-07-01
WTI_USD,2026-06-04,71,2026-06-05
`

describe.each([
  ['into the database', false],
  ['through a server', true],
])('a file with the times at which its values became known, %s', (_, isRemote) => {
  test('is answered by as_of as it was published, in whatever order it comes', async () => {
    const { load, known } = await openDemoInstance(isRemote)
    expect(await load(vintages)).toEqual({
      code: 0,
      out: 'read 4, inserted 2, revised 2, unchanged 0, blank 0, rejected 0',
      err: '',
    })
    expect(await known('2026-06-03')).toBe(70.3)
    expect(await known('2026-06-03', '2026-06-04T20:00:00Z')).toBe(70.1)
    expect(await known('2026-06-03', '2026-08-31T23:59:59Z')).toBe(70.2)
    expect(await known('2026-06-03', '2026-09-01T00:00:00Z')).toBe(70.3)
    expect((await load(vintages)).out).toBe(
      'read 4, inserted 0, revised 0, unchanged 4, blank 0, rejected 0',
    )
  })

  test('imported vintages are placed before the stored value, which stays the current value', async () => {
    const { load, known, h, series } = await openDemoInstance(isRemote)
    await load('code,observed_at,price\nWTI_USD,2026-06-03,75\nWTI_USD,2026-06-04,71\n')
    const events: unknown[] = []
    h.services.ingest.listen(changes => events.push(changes))
    expect((await load(vintages)).out).toBe(
      'read 4, inserted 0, revised 4, unchanged 0, blank 0, rejected 0',
    )
    expect(events).toEqual([])
    expect(await known('2026-06-03')).toBe(75)
    expect(await known('2026-06-03', '2026-10-01T00:00:00Z')).toBe(70.3)
    // The value that was held is the published one: it was known from then on.
    expect(await known('2026-06-04', '2026-06-05T00:00:00Z')).toBe(71)
    expect(h.services.observations.faults()).toEqual([])
    expect(series.code).toBe('WTI_USD')
  })

  test('a vintage with a future or invalid recorded_at is rejected', async () => {
    const { load } = await openDemoInstance(isRemote)
    const { code, err } = await load(
      'code,observed_at,price,recorded_at\nWTI_USD,2026-06-03,70,2026-11-20T15:00:01Z\nWTI_USD,2026-06-03,70,June\nWTI_USD,2026-06-04,70,\n',
    )
    expect(code).toBe(2)
    expect(err).toContain('recorded_at 2026-11-20T15:00:01Z is in the future')
    expect(err).toContain('recorded_at June is not a time')
  })
})
