import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFull } from '../../support/full.ts'
import { binary, remove, run, start, temporaryDir } from '../../support/instance/binary.ts'

const rows = isFull ? 400_000 : 100_000
const kills = process.env.WELLHEAD_TORTURE === '1' ? 10 : isFull ? 4 : 2

/** A file of five-minute points of two codes. */
function writeRows(path: string) {
  writeFileSync(path, 'code,observed_at,price\n')
  const start = Date.parse('2020-01-01T00:00:00Z')
  for (let block = 0; block < rows; block += 20_000) {
    let text = ''
    for (let i = block; i < block + 20_000; i++) {
      const at = new Date(start + Math.floor(i / 2) * 300_000).toISOString()
      text += `${i % 2 ? 'WTI_USD' : 'BRENT_CRUDE_USD'},${at.slice(0, 19)}Z,${(60 + ((i * 7919) % 1000) / 100).toFixed(2)}\n`
    }
    appendFileSync(path, text)
  }
}

const counts = (out: string) =>
  Object.fromEntries(
    [...out.matchAll(/(read|inserted|revised|unchanged|rejected) (\d+)/g)].map(match => [
      match[1],
      Number(match[2]),
    ]),
  )

describe('an import that is killed', () => {
  const dir = temporaryDir()
  afterAll(() => remove(dir))

  test(`${kills} times at different moments leaves a sound database, and importing again completes it`, async () => {
    const data = join(dir, 'data')
    const file = join(dir, 'rows.csv')
    writeRows(file)
    const timed = Bun.nanoseconds()
    expect((await run('import', '--create', '--data', join(dir, 'whole'), file)).code).toBe(0)
    const wholeMs = (Bun.nanoseconds() - timed) / 1e6
    let stored = 0
    for (let i = 0; i < kills; i++) {
      const child = Bun.spawn([binary(), 'import', '--create', '--data', data, file], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await Bun.sleep((wholeMs * (i + 0.5)) / kills)
      child.kill('SIGKILL')
      await child.exited
      const verified = await run('verify', '--data', data)
      // The first kill may come before the database has been made, or its tables.
      if (!/There is no data directory|holds no database|it is empty/.test(verified.err))
        expect(verified.code, verified.err).toBe(0)
    }
    const completed = await run('import', '--create', '--data', data, file)
    expect(completed.code).toBe(0)
    const { inserted, revised, unchanged } = counts(completed.out)
    stored = unchanged!
    expect(inserted! + stored).toBe(rows)
    expect(revised).toBe(0)
    expect((await run('verify', '--data', data)).out).toContain('is valid')
    const [first, other] = await Promise.all([
      run('export', '--data', data),
      run('export', '--data', join(dir, 'whole')),
    ])
    expect(first.out.length).toBeGreaterThan(rows * 20)
    expect(first.out === other.out).toBe(true)
  }, 3_600_000)
})

describe('an import into a running server', () => {
  const dir = temporaryDir()
  const file = join(dir, 'rows.csv')
  const whole = join(dir, 'whole')
  afterAll(() => remove(dir))

  beforeAll(async () => {
    mkdirSync(dir, { recursive: true })
    writeRows(file)
    expect((await run('import', '--create', '--data', whole, file)).code).toBe(0)
  })

  /** Begins the import, and resolves once so many of its rows are stored. */
  async function importedUntil(data: string, least: number) {
    const child = Bun.spawn([binary(), 'import', '--data', data, file], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const db = new Database(join(data, 'wellhead.db'), { readonly: true })
    const stored = db.query<{ n: number }, []>('SELECT count(*) AS n FROM observations')
    while (stored.get()!.n < least && child.exitCode === null) await Bun.sleep(1)
    db.close()
    return child
  }

  /** Everything of the file is there, once, and nothing else; a repeat finds it so. */
  async function completes(data: string) {
    const completed = await run('import', '--data', data, file)
    expect(completed.code, completed.err).toBe(0)
    const { inserted, revised, unchanged } = counts(completed.out)
    expect({ read: inserted! + unchanged!, revised }).toEqual({ read: rows, revised: 0 })
    const again = counts((await run('import', '--data', data, file)).out)
    expect(again).toMatchObject({ inserted: 0, revised: 0, unchanged: rows })
    const [ours, other] = await Promise.all([
      run('export', '--data', data),
      run('export', '--data', whole),
    ])
    expect(ours.out.length).toBeGreaterThan(rows * 20)
    expect(ours.out === other.out).toBe(true)
    expect((await run('verify', '--data', data)).out).toContain('is valid')
    return unchanged!
  }

  test('a command killed in the middle leaves a server that answers, and a repeat completes it', async () => {
    const server = await start('serve', join(dir, 'command'))
    const data = join(dir, 'command', 'data')
    try {
      for (let i = 1; i <= kills; i += 1) {
        const child = await importedUntil(data, (rows * i) / (kills + 2))
        child.kill('SIGKILL')
        await child.exited
        expect((await fetch(`${server.url}/health`)).status).toBe(200)
      }
      expect(await completes(data)).toBeGreaterThan(0)
    } finally {
      await server.stop()
    }
  }, 3_600_000)

  test('a server killed in the middle keeps every row that it acknowledged to the command', async () => {
    const place = join(dir, 'server')
    const data = join(place, 'data')
    let toldMost = 0
    for (let i = 1; i <= kills; i += 1) {
      const server = await start('serve', place)
      const child = await importedUntil(data, (rows * i) / (kills + 2))
      server.process.kill('SIGKILL')
      await server.process.exited
      const [code, err] = await Promise.all([child.exited, new Response(child.stderr).text()])
      expect(code, err).toBe(75)
      expect(err).toContain('import the same files again')
      const told = Number(
        /import: at least (\d+) points were written before that/.exec(err)?.[1] ?? 0,
      )
      toldMost = Math.max(toldMost, told)
      expect((await run('verify', '--data', data)).code).toBe(0)
    }
    const server = await start('serve', place)
    try {
      const listed = await run('batches', 'list', '--data', data, '--json')
      const cut = (JSON.parse(listed.out) as { status: string; inserted: number }[]).filter(
        batch => batch.inserted > 0,
      )
      expect(cut.map(batch => batch.status)).toEqual(Array(kills).fill('interrupted'))
      expect(await completes(data)).toBeGreaterThanOrEqual(toldMost)
      expect(toldMost).toBeGreaterThan(0)
    } finally {
      await server.stop()
    }
  }, 3_600_000)
})

test('a WAL that was damaged while the server was down is reported at the next start', async () => {
  const dir = temporaryDir()
  try {
    const server = await start('serve', dir)
    const admin = { authorization: `Bearer ${server.adminToken}` }
    for (let n = 0; n < 11; n += 1) {
      const created = await fetch(`${server.url}/admin/v1/accounts`, {
        method: 'POST',
        headers: admin,
        body: JSON.stringify({ email: `person${n}@example.com` }),
      })
      expect(created.status).toBe(201)
    }
    server.process.kill('SIGKILL')
    await server.process.exited
    const log = join(dir, 'data', 'wellhead.db-wal')
    const bytes = readFileSync(log)
    // Damages a page in the middle: everything after it is lost.
    bytes[32 + 4120 * Math.floor((bytes.length - 32) / 4120 / 2) + 1000]! ^= 1
    writeFileSync(log, bytes)
    const again = await start('serve', dir)
    await again.stop()
    const { stderr } = again.process as Bun.Subprocess<'ignore', 'pipe', 'pipe'>
    expect(await new Response(stderr).text()).toContain('commits_missing')
  } finally {
    remove(dir)
  }
})
