import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Zip, ZipDeflate } from 'fflate'
import { shippedFeeds } from '../../src/feeds/publishers/publishers.ts'
import { standIn, standInKey } from '../../test/support/publishers/stand-in.ts'
import { publishedWorld } from '../../test/support/publishers/world.ts'
import { median } from '../duel.ts'
import type { BenchOptions, Line } from '../row.ts'
import { binary, built, spawned } from '../server.ts'

const unpackedBytes = 200 * 1024 * 1024
const otherSeries = 100_000
const leastMegabytesPerSecond = 60
const residentMbMax = 150
const ownShareMax = 0.1
const backfillCodes = 40
/** The response time of an agency for 5,000 rows, which a local socket would not have. */
const answerMs = 1000
const rounds = 3
const lookEveryMs = 25

/**
 * The cost of reading public feeds from a socket of this machine: the archive of 200 MB with a
 * hundred thousand series that are not wanted, and forty series of the agency page by page.
 */
export async function feeds(options: BenchOptions): Promise<Line[]> {
  return [
    ...(await archive(options)),
    await backfill(options, 0),
    await backfill(options, answerMs),
  ]
}

const kind = built()[0] === binary ? 'binary' : 'source'

async function archive({ dir, say }: BenchOptions): Promise<Line[]> {
  say(`archive of ${otherSeries.toLocaleString('en-US')} series (${kind})`)
  const zip = petArchive()
  const manifest = JSON.stringify({
    dataset: {
      PET: { last_updated: '2026-08-19', accessURL: 'https://api.eia.gov/bulk/PET.zip' },
    },
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => new Response(new URL(request.url).pathname.endsWith('.zip') ? zip : manifest),
  })
  const codes = codesOf('eia_bulk', line => line.at === 'PET')
  const settings = `[feeds.eia_bulk]\nbase_url = "http://127.0.0.1:${server.port}"\ncodes = ${JSON.stringify(codes)}\n`
  const runs = []
  const idle = []
  try {
    for (let round = 0; round <= rounds; round += 1) {
      runs.push(
        await measured(join(dir, 'feeds'), settings, ['feeds', 'run', 'eia_bulk', '--json']),
      )
      idle.push(await measured(join(dir, 'feeds'), settings, ['feeds', 'list', '--json']))
    }
  } finally {
    await server.stop(true)
  }
  const [own, bare] = [runs, idle].map(all => all.slice(1))
  const { run } = JSON.parse(own!.at(-1)!.out) as { run: { result: string; inserted: number } }
  if (run.result !== 'new') throw new Error(`the archive was ${run.result}`)
  const speed = median(own!.map(run => unpackedBytes / 1e6 / (run.tookMs / 1000)))
  const resident = median(own!.map(run => run.residentMb))
  const idleMb = median(bare!.map(run => run.residentMb))
  const line = (row: string, ours: string, yardstick: string, bar: string, met: boolean): Line => ({
    row: `${row} (${kind})`,
    ours,
    yardstick,
    ratio: undefined,
    atLeast: bar,
    met,
  })
  return [
    line(
      `archive of 200 MB, ${run.inserted.toLocaleString('en-US')} values written`,
      `${Math.round(speed)} MB/s`,
      '-',
      `≥ ${leastMegabytesPerSecond} MB/s`,
      speed >= leastMegabytesPerSecond,
    ),
    line(
      'resident memory of it, against a command that reads nothing',
      `${Math.round(resident)} MB`,
      `${Math.round(idleMb)} MB`,
      `≤ ${residentMbMax} MB`,
      resident <= residentMbMax,
    ),
    line(
      'memory of it above a command that reads nothing',
      `${Math.round(resident - idleMb)} MB`,
      '-',
      `≤ ${residentMbMax} MB`,
      resident - idleMb <= residentMbMax,
    ),
  ]
}

async function backfill({ dir, say }: BenchOptions, afterMs: number): Promise<Line> {
  say(`backfill of ${backfillCodes} series, answered after ${afterMs} ms (${kind})`)
  const publishers = await standIn({ answerMs: afterMs })
  publishers.world = publishedWorld()
  const codes = codesOf('eia', () => true).slice(0, backfillCodes)
  const settings = `[feeds.eia]\nkey = "${standInKey}"\nbase_url = "${publishers.url}"\ncodes = ${JSON.stringify(codes)}\n`
  try {
    const run = await measured(join(dir, 'feeds'), settings, ['feeds', 'run', 'eia', '--json'])
    const idle = await measured(join(dir, 'feeds'), settings, ['feeds', 'list', '--json'])
    const share = (run.processorMs - idle.processorMs) / run.tookMs
    const { inserted, requests } = (
      JSON.parse(run.out) as { run: { inserted: number; requests: number } }
    ).run
    return {
      row: `backfill of ${codes.length} codes, ${inserted.toLocaleString('en-US')} values, ${requests} requests answered after ${afterMs} ms: own part of ${(run.tookMs / 1000).toFixed(1)} s (${kind})`,
      ours: `${(100 * share).toFixed(1)}%`,
      yardstick: '-',
      ratio: undefined,
      atLeast: `≤ ${100 * ownShareMax}%`,
      met: share <= ownShareMax,
    }
  } finally {
    await publishers.stop()
  }
}

const codesOf = (feed: string, isWanted: (line: { at: string }) => boolean): string[] => [
  ...new Set(
    shippedFeeds
      .find(({ publisher }) => publisher.name === feed)!
      .map.flatMap(entry => ('code' in entry.target && isWanted(entry) ? [entry.target.code] : [])),
  ),
]

interface Measured {
  out: string
  /** The duration that the run reports; 0 for a command without one. */
  tookMs: number
  processorMs: number
  residentMb: number
}

/** A command on an empty directory, from its start to its exit. */
async function measured(target: string, settings: string, args: string[]): Promise<Measured> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const config = join(target, 'wellhead.toml')
  writeFileSync(config, `[egress]\nallow = ["127.0.0.1/32"]\n${settings}`)
  const command = [...built(), ...args, '--data', join(target, 'data'), '--config', config]
  const child = spawned(command)
  let residentKb = 0
  // Sampled while it runs: the kernel's value at the end includes the parent process.
  const looking = setInterval(() => {
    residentKb = Math.max(residentKb, residentPeakKb(child.pid))
  }, lookEveryMs)
  const [code, out] = await Promise.all([child.exited, new Response(child.stdout).text()])
  clearInterval(looking)
  // 2: guards hold single values of the real series, and the rest is written.
  if (code !== 0 && code !== 2)
    throw new Error(`${command.join(' ')} ended with exit code ${code}: ${out}`)
  const usage = child.resourceUsage()!
  const { run } = JSON.parse(out) as { run?: { took_ms: number } }
  return {
    out,
    tookMs: run?.took_ms ?? 0,
    processorMs: Number(usage.cpuTime.total) / 1000,
    residentMb: residentKb / 1024,
  }
}

/** The most that a process has held so far; 0 when it is gone. */
function residentPeakKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The daily archive: the series that are wanted with their whole history, and many others. */
function petArchive(): Uint8Array {
  const pieces: Uint8Array[] = []
  const archive = new Zip((error, piece) => {
    if (error) throw error
    pieces.push(piece)
  })
  const file = new ZipDeflate('PET.txt', { level: 6 })
  archive.add(file)
  let bytes = 0
  const push = (text: string) => {
    const chunk = Buffer.from(text)
    bytes += chunk.length
    file.push(chunk)
  }
  const { agency } = publishedWorld()
  for (const entry of shippedFeeds.find(({ publisher }) => publisher.name === 'eia_bulk')!.map) {
    const [, id = '', letter = ''] = entry.sourceId.split('.')
    const series = entry.at === 'PET' ? agency.get(id) : undefined
    if (!series) continue
    const data = series.rows
      .toReversed()
      .map(({ period, value }) => [period.replaceAll('-', ''), value === '' ? null : value])
    push(
      `${JSON.stringify({ series_id: entry.sourceId, name: id, units: series.units, unitsshort: series.units, f: letter, last_updated: '2026-08-19T14:05:00-04:00', data })}\n`,
    )
  }
  const each = Math.floor((unpackedBytes - bytes) / otherSeries)
  for (let i = 0; i < otherSeries; i += 1) {
    const head = `{"series_id":"PET.OTHER_${i}.M","name":"Another series, number ${i}","units":"Thousand Barrels","f":"M","data":[`
    let body = ''
    for (let month = 0; head.length + body.length < each - 40; month += 1) {
      const value = ((i * 7919 + month * 104_729) % 1_000_003) / 1000
      body += `${month > 0 ? ',' : ''}["${2026 - Math.floor(month / 12)}${String(12 - (month % 12)).padStart(2, '0')}",${value}]`
    }
    push(`${head}${body}]}\n`.padEnd(each, ' '))
  }
  file.push(new Uint8Array(0), true)
  archive.end()
  return Buffer.concat(pieces)
}
