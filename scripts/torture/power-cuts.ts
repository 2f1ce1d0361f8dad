import { Database } from 'bun:sqlite'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * R02: every write, sync, rename and answer of a server is recorded (strace), and the power is cut
 * at random places of the recording: unsynced writes are kept, lost, or kept in part. Each
 * resulting directory must be sound and have every account and all prices whose writing was
 * acknowledged before the cut; each tenth is judged by `wellhead verify` too. Prints one line of
 * JSON. Needs dist/wellhead and strace.
 *
 * bun scripts/torture/power-cuts.ts [cuts, else 1000] [accounts, else 250] [seed, else 1]
 */

const [cuts = 1000, accounts = 250, seed = 1] = process.argv.slice(2).map(Number)
const binary = resolve(import.meta.dir, '../../dist/wellhead')
const work = mkdtempSync(join(tmpdir(), 'wellhead-cuts-'))
const data = join(work, 'data')
const trace = join(work, 'trace')
const ready = join(work, 'ready')
const judgedByBinaryEvery = 10
const sectorBytes = 512
const rowsSent = 200
/** Room that is kept free, and an index that SQLite makes again. */
const ignored = /reserve|-shm$/

let state = seed
/** In [0, 1), the same for the same seed. */
function random(): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return state / 2_147_483_648
}

/** Bytes: a database that a new directory begins with is written at once. */
const longestWrite = 2 * 2 ** 20

async function record(): Promise<void> {
  const tracer = Bun.spawn(
    [
      'strace',
      '-f',
      '-y',
      '-xx',
      '-s',
      String(longestWrite),
      '-e',
      'trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,rename,unlink,sendto,writev',
      '-o',
      trace,
      binary,
      'serve',
      '--data',
      data,
      '--port',
      '0',
      '--ready-file',
      ready,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  while (!existsSync(ready)) {
    if (tracer.exitCode !== null) throw new Error('the server did not start under strace')
    await Bun.sleep(20)
  }
  const { url, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>
  const authorization = `Bearer ${admin_token}`
  const post = async (path: string, body: unknown) => {
    const response = await fetch(url + path, {
      method: 'POST',
      // The answers are read in the recording.
      headers: { authorization, 'accept-encoding': 'identity' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { data: { batch: { id: number } } }
  }
  // Posts prices in a separate batch, as an import does, so that the audit gets an entry too.
  const { batch } = (
    await post('/admin/v1/batches', { file_name: 'prices.csv', sha256: '0'.repeat(64) })
  ).data
  for (let n = 0; n < accounts; n += 1) {
    await post('/admin/v1/accounts', { email: `person${n}@example.com` })
    if (n % 5 === 0)
      await post('/admin/v1/observations', {
        batch: batch.id,
        observations: Array.from({ length: rowsSent }, (_, i) => ({
          code: 'WTI_USD',
          observed_at: new Date(Date.UTC(2026, 0, 1) + (n * rowsSent + i) * 60_000).toISOString(),
          price: 70 + (i % 7) / 10,
        })),
      })
  }
  const { pid } = JSON.parse(readFileSync(join(data, 'lock.json'), 'utf8')) as { pid: number }
  process.kill(pid, 'SIGKILL')
  await tracer.exited
}

type Write = { offset: number; bytes: Buffer } | { length: number }
/** A file, whatever its names: its bytes on disk, and the writes that are not synced. */
interface Inode {
  bytes: Buffer
  pending: Write[]
  /** Where the next write without a place goes. */
  end: number
}

const newInode = (): Inode => ({ bytes: Buffer.alloc(0), pending: [], end: 0 })

function applied(bytes: Buffer, write: Write): Buffer {
  if ('length' in write) {
    const cut = Buffer.alloc(write.length)
    bytes.copy(cut, 0, 0, write.length)
    return cut
  }
  const { offset, bytes: more } = write
  const whole =
    bytes.length >= offset + more.length
      ? bytes
      : Buffer.concat([bytes, Buffer.alloc(offset + more.length - bytes.length)])
  more.copy(whole, offset)
  return whole
}

/** The bytes of a file on disk after a cut. */
function afterCut({ bytes, pending }: Inode, how: 'none' | 'some' | 'torn' | 'all'): Buffer {
  let left: Buffer = Buffer.from(bytes)
  if (how === 'none') return left
  const last = how === 'torn' ? Math.floor(random() * pending.length) : pending.length
  for (const [i, write] of pending.entries()) {
    if (how === 'some' && random() < 0.5) continue
    if (i > last) break
    if (how === 'torn' && i === last && 'bytes' in write) {
      const sectors = Math.floor((random() * write.bytes.length) / sectorBytes)
      left = applied(left, {
        offset: write.offset,
        bytes: write.bytes.subarray(0, sectors * sectorBytes),
      })
    } else left = applied(left, write)
  }
  return left
}

const unescaped = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex')
const pathOf = (text: string) => unescaped(text).toString()

interface Line {
  thread: string
  call: string
  args: string
  /** Other threads made calls before it ended. */
  isUnfinished: boolean
}
/** The call of a line that reports the end of an unfinished sync. */
const syncEnded = 'sync ended'
function lineOf(text: string): Line | undefined {
  const [, thread] = /^(\d+) +<\.\.\. f(?:data)?sync resumed>.*= 0$/.exec(text) ?? []
  if (thread) return { thread, call: syncEnded, args: '', isUnfinished: false }
  const match = /^(\d+) +(\w+)\((.*?)(?:\) += (-?\d+)| <unfinished)/.exec(text)
  if (!match || match[4] === '-1') return undefined
  return {
    thread: match[1]!,
    call: match[2]!,
    args: match[3]!,
    isUnfinished: match[4] === undefined,
  }
}

/** Files by name as the process sees them, and as the disk does since the directory was synced. */
let names = new Map<string, Inode>()
let namesOnDisk = new Map<string, Inode>()
const answered = new Set<string>()
let answeredPrices = 0
/** Writes that a thread is bringing to the disk. */
const syncing = new Map<string, Sync>()
interface Sync {
  inode: Inode
  path: string
  writes: readonly Write[]
}

/** Data written before a sync began is on the disk when the sync ends. */
function synced({ inode, path, writes }: Sync): void {
  const brought = new Set(writes)
  for (const write of inode.pending)
    if (brought.has(write)) inode.bytes = applied(inode.bytes, write)
  inode.pending = inode.pending.filter(write => !brought.has(write))
  // A file whose content is safe has its name, as journals of file systems have it.
  namesOnDisk.set(path, inode)
}

const isOurs = (path: string) => path.startsWith(`${data}/`) && !ignored.test(path)
function inodeOf(path: string): Inode {
  const inode = names.get(path) ?? newInode()
  names.set(path, inode)
  return inode
}

/** Takes in one call. Whether it is a place at which the power may be cut. */
function take({ thread, call, args, isUnfinished }: Line): boolean {
  if (call === syncEnded) {
    const sync = syncing.get(thread)
    if (sync) synced(sync)
    syncing.delete(thread)
    return sync !== undefined
  }
  if (call === 'sendto' || call === 'writev') {
    const texts = [...args.matchAll(/"((?:\\x[0-9a-f]{2})+)"/g)].map(([, hex]) =>
      unescaped(hex!).toString('latin1'),
    )
    for (const [, email] of texts.join('').matchAll(/"email":"(person\d+@example\.com)"/g))
      answered.add(email!)
    for (const [, inserted] of texts.join('').matchAll(/"inserted":(\d+)/g))
      answeredPrices += Number(inserted)
    return false
  }
  const [first = '', second = ''] = [...args.matchAll(/[<"]((?:\\x[0-9a-f]{2})*)[>"]/g)].map(
    ([, hex]) => hex!,
  )
  const path = pathOf(first)
  if (call === 'rename' || call === 'unlink') {
    const inode = names.get(path)
    if (inode) names.delete(path)
    if (inode && call === 'rename' && isOurs(pathOf(second))) names.set(pathOf(second), inode)
    return inode !== undefined
  }
  if (path === data && call.startsWith('f')) {
    namesOnDisk = new Map(names)
    return true
  }
  if (call === 'openat') {
    const opened = pathOf(second)
    if (isOurs(opened) && args.includes('O_TRUNC')) names.set(opened, newInode())
    return false
  }
  if (!isOurs(path)) return false
  const inode = inodeOf(path)
  if (call === 'pwrite64' || call === 'write') {
    if (args.includes('"...')) throw new Error(`a write to ${path} is longer than was recorded`)
    const bytes = unescaped(second)
    const offset = call === 'write' ? inode.end : Number(/, (\d+)$/.exec(args)![1])
    inode.pending.push({ offset, bytes })
    inode.end = Math.max(inode.end, offset + bytes.length)
  } else if (call === 'ftruncate') {
    const length = Number(/, (\d+)$/.exec(args)![1])
    inode.pending.push({ length })
    inode.end = length
  } else if (call === 'fsync' || call === 'fdatasync') {
    const sync = { inode, path, writes: [...inode.pending] }
    if (isUnfinished) syncing.set(thread, sync)
    else synced(sync)
  }
  return true
}

const ways = ['none', 'some', 'torn', 'all'] as const
const failed: string[] = []

async function judge(cut: number, place: number): Promise<void> {
  const target = join(work, 'cut')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  const how = ways[Math.floor(random() * ways.length)]!
  for (const [path, inode] of random() < 0.5 ? names : namesOnDisk)
    writeFileSync(join(target, basename(path)), afterCut(inode, how))
  const wrong = (why: string) => void failed.push(`cut ${cut} at call ${place} (${how}): ${why}`)
  if (cut % judgedByBinaryEvery === 0) {
    const verify = Bun.spawn([binary, 'verify', '--data', target], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    if ((await verify.exited) !== 0) wrong((await new Response(verify.stderr).text()).slice(0, 200))
  }
  try {
    const db = new Database(join(target, 'wellhead.db'), { readwrite: true })
    const sound = db.query('PRAGMA integrity_check').get() as { integrity_check: string }
    if (sound.integrity_check !== 'ok') wrong(sound.integrity_check)
    const rows = db.query('SELECT email FROM accounts').all() as { email: string }[]
    const emails = new Set(rows.map(row => row.email))
    const lost = [...answered].filter(email => !emails.has(email))
    if (lost.length > 0) wrong(`${lost.length} accounts are gone, such as ${lost[0]}`)
    const { rows: prices } = db.query('SELECT count(*) AS rows FROM observations').get() as {
      rows: number
    }
    if (prices < answeredPrices) wrong(`${prices} prices are there of ${answeredPrices}`)
    db.close()
  } catch (error) {
    wrong(String(error))
  }
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = lineOf(text)
    if (line) yield line
  }
}

await record()
// Once to count the places, once to cut at some of them.
let places = 0
let firstAnswerAt: number | undefined
for await (const line of linesOf(trace)) {
  if (take(line)) places += 1
  if (answered.size > 0) firstAnswerAt ??= places
}
names = new Map()
namesOnDisk = new Map()
answered.clear()
answeredPrices = 0
syncing.clear()
const [from, span] = [firstAnswerAt ?? 0, places - (firstAnswerAt ?? 0)]
const chosen = Array.from({ length: cuts }, () => from + Math.floor(random() * span)).sort(
  (a, b) => a - b,
)
let [place, cut] = [0, 0]
for await (const line of linesOf(trace)) {
  if (take(line)) place += 1
  for (; cut < cuts && chosen[cut]! <= place && place >= from; cut += 1) await judge(cut, place)
}
console.log(
  JSON.stringify({
    id: 'R02',
    n: cut,
    failures:
      failed.length +
      Number(answered.size !== accounts) +
      Number(answeredPrices !== Math.ceil(accounts / 5) * rowsSent),
    places,
    answered: answered.size,
    prices: answeredPrices,
    seed,
    ...(failed.length > 0 && { failed: failed.slice(0, 5) }),
  }),
)
rmSync(work, { recursive: true, force: true })
process.exit(failed.length > 0 ? 1 : 0)
