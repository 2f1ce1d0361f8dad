import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { startWellhead, type Wellhead } from '../../../clients/testkit/src/testkit.ts'
import { launchBrowser } from '../../support/console/browser.ts'
import { binary } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-browser-files-'))
let instance: Wellhead
let browser: Browser
let pages: ReturnType<typeof Bun.serve>

/** What a page of another site does: it reads one column of the first rows of a file. */
const script = `
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

window.readFile = async (url, key) => {
  const report = { fetched: 0, ranges: [], statuses: [] }
  const counted = async (input, init) => {
    const response = await fetch(input, init)
    report.statuses.push(response.status)
    const range = response.headers.get('content-range')
    if (range) {
      report.ranges.push(range)
      report.fetched += Number(response.headers.get('content-length'))
    }
    return response
  }
  const requestInit = key && { headers: { authorization: 'Token ' + key } }
  const file = await asyncBufferFromUrl({ url, requestInit, fetch: counted })
  const metadata = await parquetMetadataAsync(file, { initialFetchSize: 4096 })
  const columns = parquetSchema(metadata).children.map(child => child.element.name)
  const [first] = columns
  const rows = await parquetReadObjects({ file, metadata, compressors, columns: [first], rowEnd: 5 })
  return {
    ...report,
    rows: Number(metadata.num_rows),
    bytes: file.byteLength,
    columns,
    cells: rows.map(row => row[first]),
  }
}
`

interface Listed {
  data: { files: Entry[]; datasets: (Entry & { dataset: string })[] }
}
interface Entry {
  name: string
  url: string
  rows: number
  size: number
}
interface Read {
  rows: number
  bytes: number
  fetched: number
  ranges: string[]
  statuses: number[]
  columns: string[]
  cells: string[]
}

needs('chromium').describe('a page of another site reads nightly files of the binary', () => {
  beforeAll(async () => {
    instance = await startWellhead({
      binary: binary(),
      clock: '2026-11-20T03:00:00Z',
      world: { size: 'small' },
      settings: {
        WELLHEAD_FILES_DIRECTORY: join(folder, 'files'),
        // The clock stands still while the files are waited for.
        WELLHEAD_LIMITS_PER_MINUTE: '100000',
      },
    })
    const entry = join(import.meta.dir, '../../../node_modules/.cache/files-in-browser.js')
    writeFileSync(entry, script)
    const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser' })
    const bundle = await outputs[0]!.text()
    pages = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request =>
        request.url.endsWith('.js')
          ? new Response(bundle, { headers: { 'content-type': 'text/javascript' } })
          : new Response('<!doctype html><script type="module" src="/page.js"></script>', {
              headers: { 'content-type': 'text/html' },
            }),
    })
    browser = await launchBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await pages?.stop(true)
    await instance?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const list = async () => {
    await until(
      'the nightly files are made',
      async () => (await instance.get('/v1/files')).status === 200,
      60_000,
    )
    return ((await (await instance.get('/v1/files')).json()) as Listed).data
  }
  const reading = async (url: string, key?: string): Promise<Read> => {
    const page = await browser.newPage()
    // Another host and port: the page and the files are of different origins.
    await page.goto(`http://localhost:${pages.port}/`)
    await page.waitForFunction('window.readFile')
    const read = await page.evaluate(`readFile(${JSON.stringify(url)}, ${JSON.stringify(key)})`)
    await page.close()
    return read as Read
  }

  test('with the key in a header, by ranges that are a part of the file', async () => {
    const { files, datasets } = await list()
    const largest = files.toSorted((a, b) => b.size - a.size)[0]!
    const read = await reading(largest.url, instance.apiKey)
    expect(read).toMatchObject({ rows: largest.rows, bytes: largest.size })
    expect(new Set(read.statuses.slice(1))).toEqual(new Set([206]))
    expect(read.ranges.length).toBeGreaterThan(1)
    for (const range of read.ranges) expect(range).toEndWith(`/${largest.size}`)
    expect(read.fetched).toBeLessThan(largest.size / 2)
    expect(read.cells).toHaveLength(5)
    expect(read.columns.slice(0, 2)).toEqual(['code', 'observed_at'])
    const rigs = datasets.find(({ dataset }) => dataset === 'rig-counts')!
    const { rows, columns } = await reading(rigs.url, instance.apiKey)
    expect(rows).toBe(rigs.rows)
    expect(columns).toContain('oil')
  }, 120_000)

  test('by a signed link, without a key', async () => {
    const { files } = await list()
    const [first] = files
    const linked = await fetch(`${first!.url}/link`, {
      headers: { authorization: `Token ${instance.apiKey}` },
    })
    const { data } = (await linked.json()) as { data: { url: string } }
    expect(await reading(data.url)).toMatchObject({ rows: first!.rows, bytes: first!.size })
  }, 120_000)
})
