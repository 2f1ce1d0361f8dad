import { describe, expect, test } from 'bun:test'
import { parquetReadObjects } from 'hyparquet'
import { createBase } from '../../../../src/http/base.ts'
import { createContext } from '../../../../src/http/operations/context.ts'
import { mount } from '../../../../src/http/operations/mount.ts'
import { createTurns, nextTurn } from '../../../../src/lib/process/loop-turns.ts'
import { dayMs, isoMillis } from '../../../../src/lib/time/instant.ts'
import { parseCursor } from '../../../../src/topics/changes/math/cursor.ts'
import { keepAliveMs } from '../../../../src/topics/changes/operations/feed-stream.ts'
import { cursorField } from '../../../../src/topics/changes/operations/record.ts'
import { replayOperation } from '../../../../src/topics/changes/operations/replay.ts'
import { startAt, type TestInstance } from '../../../support/instance/instance.ts'
import type { WireChange } from '../../../support/topics/follower.ts'
import { opened, pageOf, readAll } from '../../../support/topics/operations/changes.ts'

describe('the feed of changes', () => {
  test('continues after a restored backup from the cursors that the backup has, and names the last of them', async () => {
    const { instance, token } = opened()
    const { changeLog } = instance.services
    instance.record('WTI_USD', [70, 71], startAt - dayMs, dayMs)
    const { cursor: fork } = await readAll(instance, token, 'start')
    instance.clock.advance(1)
    // Later writes are not in the backup: the same instants occur once more, with other values.
    changeLog.beginLine()
    instance.record('WTI_USD', [72], startAt, dayMs)
    const restored = await readAll(instance, token, fork)
    expect(restored.changes.map(change => change.value)).toEqual([72])
    const [line] = changeLog.lines()
    const lost = restored.cursor.slice(0, -6) + line!.token
    const answer = await instance.get(`/v1/changes?since=${lost}`, token)
    expect(answer.status).toBe(410)
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'CURSOR_GONE',
        reason: 'lineage',
        fork,
        begin_again: '/v1/changes?since=start',
      },
    })
  })

  test('refuses a cursor of a record that does not exist yet', async () => {
    const { instance, token } = opened()
    instance.record('WTI_USD', [70, 71], startAt - dayMs, dayMs)
    const { cursor } = await readAll(instance, token, 'start')
    const later = `${cursor.slice(0, 6)}zzz${cursor.slice(9)}`
    expect((await instance.get(`/v1/changes?since=${later}`, token)).status).toBe(410)
  })

  test('returns the cursor that was sent where nothing is new, and one for a time', async () => {
    const { instance, token } = opened()
    const empty = await pageOf(instance, token, 'start')
    expect(empty).toMatchObject({ changes: [], has_more: false })
    expect((await pageOf(instance, token, empty.cursor)).cursor).toBe(empty.cursor)
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    instance.clock.advance(60_000)
    instance.record('WTI_USD', [71], startAt, dayMs)
    const { cursor } = await readAll(instance, token, 'start')
    expect(await pageOf(instance, token, cursor)).toEqual({
      changes: [],
      count: 0,
      cursor,
      has_more: false,
    })
    expect(await pageOf(instance, token, 'now')).toMatchObject({ changes: [], cursor })
    const later = await pageOf(instance, token, isoMillis(startAt + 30_000))
    expect(later.changes.map(change => change.value)).toEqual([71])
  })

  test('has one record a line as NDJSON and its columns as Parquet', async () => {
    const { instance, token } = opened()
    instance.record('WTI_USD', [70, 71], startAt - dayMs, dayMs)
    const { changes } = await pageOf(instance, token, 'start')
    const lines = await instance.get('/v1/changes?since=start', token, {
      accept: 'application/x-ndjson',
    })
    expect(
      (await lines.text())
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual(changes)
    const file = await instance.get('/v1/changes?since=start&format=parquet', token)
    const rows = await parquetReadObjects({
      file: await file.arrayBuffer(),
      compressors: { ZSTD: bytes => Bun.zstdDecompressSync(bytes) },
    })
    const dated = changes.map(change => ({
      ...change,
      batch: null,
      observed_at: new Date(change.observed_at!),
      recorded_at: new Date(change.recorded_at),
    }))
    expect(rows as unknown[]).toEqual(dated)
  })

  test('are documented with an example that is a cursor', () => {
    expect(parseCursor(cursorField.examples[0])).toBeDefined()
  })

  test('refuses what is not a cursor, unknown codes and unknown datasets', async () => {
    const { instance, token } = opened()
    const codeOf = async (query: string) => {
      const answer = await instance.get(`/v1/changes${query}`, token)
      const body = (await answer.json()) as { code?: string; error?: { code: string } }
      return [answer.status, body.error?.code ?? body.code]
    }
    expect(await codeOf('')).toEqual([400, 'MISSING_PARAMETER'])
    expect(await codeOf('?since=yesterday')).toEqual([400, 'INVALID_PARAMETER'])
    expect(await codeOf('?since=start&codes=NO_SUCH_CODE')).toEqual([400, 'invalid_code'])
    expect(await codeOf('?since=start&dataset=weather')).toEqual([400, 'INVALID_PARAMETER'])
  })

  test('of a plan with a slice of exports are those of its codes', async () => {
    const { instance } = opened()
    const token = instance.key('free')
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    instance.record('EU_CARBON_EUR', [70], startAt - dayMs, dayMs)
    const { changes } = await pageOf(instance, token, 'start')
    expect(changes.map(change => change.code)).toEqual(['WTI_USD'])
    const refused = await instance.get('/v1/changes?since=start&codes=EU_CARBON_EUR', token)
    expect(refused.status).toBe(403)
  })

  const followed = async (instance: TestInstance, token: string) => {
    const answer = await instance.get('/v1/changes?since=start', token, {
      accept: 'text/event-stream',
    })
    const reader = answer.body!.getReader()
    let text = ''
    return async (part: string): Promise<string> => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) break
        text += new TextDecoder().decode(value)
      }
      return text
    }
  }

  test('are followed live, and end with a reason', async () => {
    const { instance, token } = opened()
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    const readUntil = await followed(instance, token)
    expect(await readUntil('event: cursor')).toMatch(
      /^id: \w+\nevent: change\ndata: \{.*"value":70,.*\}\n\n/,
    )
    instance.record('WTI_USD', [71], startAt, dayMs)
    expect(await readUntil('"value":71')).toContain('"value":71')
    instance.services.streams.stop()
    expect(await readUntil('event: end')).toContain(
      'event: end\ndata: {"reason":"shutdown","retry":true}',
    )
  })

  test('end live where what was sent is not in a restored backup, whatever was recorded since', async () => {
    const { instance, token } = opened()
    const { changeLog, db } = instance.services
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    const fork = changeLog.newest()!
    instance.clock.advance(1)
    instance.record('WTI_USD', [71], startAt, dayMs)
    const readUntil = await followed(instance, token)
    expect(await readUntil('event: cursor')).toContain('"value":71')
    db.run("INSERT INTO change_lines (token, begins_after) VALUES ('aaaaaa', ?)", [fork])
    instance.clock.advance(1)
    instance.record('WTI_USD', [72], startAt + dayMs, dayMs)
    const text = await readUntil('event: end')
    expect(text).not.toContain('"value":72')
    expect(text).toContain('event: end\ndata: {"reason":"lineage","retry":false}')
  })

  test('are in the format that the client accepts first', async () => {
    const { instance, token } = opened()
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    const typeOf = async (accept: string) => {
      const answer = await instance.get('/v1/changes?since=start', token, { accept })
      await answer.body?.cancel()
      return answer.headers.get('content-type')
    }
    expect(await typeOf('application/json, text/event-stream')).toStartWith('application/json')
    expect(await typeOf('text/event-stream, application/json')).toStartWith('text/event-stream')
    expect(await typeOf('application/x-ndjson;q=0.9, */*')).toStartWith('application/x-ndjson')
    expect(await typeOf('*/*')).toStartWith('application/json')
  })

  test('are replayed by their recording, as they came or as fast as they are read', async () => {
    const { instance, token } = opened()
    const { clock } = instance
    const begin = clock.now()
    instance.record('WTI_USD', [70, 71], startAt - dayMs, dayMs)
    clock.advance(30 * 60_000)
    instance.record('WTI_USD', [72], startAt - dayMs, dayMs)
    instance.record('BRENT_CRUDE_USD', [80], startAt - dayMs, dayMs)
    const range = `from=${isoMillis(begin)}&to=${isoMillis(clock.now() + dayMs)}`
    const lines = async (query: string) => {
      const answer = await instance.get(`/v1/changes/replay?${range}&${query}`, token)
      const text = await answer.text()
      return text
        .trim()
        .split('\n')
        .map(line => (JSON.parse(line) as WireChange).value)
    }
    expect(await lines('speed=max&format=ndjson')).toEqual([70, 71, 72, 80])
    // Half an hour in a hundredth of a second.
    expect(await lines('speed=180000&format=ndjson&codes=WTI_USD')).toEqual([70, 71, 72])
    const stream = await instance.get(`/v1/changes/replay?${range}&speed=max`, token)
    const text = await stream.text()
    expect(text.match(/^event: change$/gm)).toHaveLength(4)
    expect(text).toEndWith('event: end\ndata: {"reason":"done","count":4}\n\n')
    const backwards = `/v1/changes/replay?from=${isoMillis(begin)}&to=${isoMillis(begin)}`
    expect((await instance.get(backwards, token)).status).toBe(400)
  })

  test('a replay that waits for its next record sends comments, so that no proxy ends it', async () => {
    // Proxies end a connection that was silent for a minute.
    expect(keepAliveMs).toBeLessThanOrEqual(30_000)
    const { instance, token } = opened()
    const begin = instance.clock.now()
    instance.record('WTI_USD', [70], startAt - dayMs, dayMs)
    instance.clock.advance(dayMs)
    instance.record('WTI_USD', [71], startAt, dayMs)
    const range = `from=${isoMillis(begin)}&to=${isoMillis(instance.clock.now() + dayMs)}`
    const context = createContext(instance.services, {})
    const base = { ...context, corsOrigins: [], pages: {} }
    const replay = replayOperation(context, createTurns(), 20)
    const app = mount(createBase(base), context, [replay])
    const answer = await app.handle(
      new Request(`http://localhost/v1/changes/replay?${range}`, {
        headers: { authorization: `Token ${token}` },
      }),
    )
    let text = ''
    for await (const part of answer.body!) {
      text += new TextDecoder().decode(part)
      if (text.includes(': keep-alive\n\n')) break
    }
    expect(text).toMatch(/^id: \S+\nevent: change\ndata: .*\n\n: keep-alive\n\n$/)
  })

  test('are replayed in slices, so that other requests wait for none of them', async () => {
    const { instance, token } = opened()
    const { clock } = instance
    const begin = clock.now()
    const chunks = 12
    const each = 5_000
    for (let i = 0; i < chunks; i += 1) {
      const values = Array.from({ length: each }, (_, j) => i * each + j)
      instance.record('WTI_USD', values, startAt - dayMs * (1 + i * each), 60_000)
      clock.advance(100)
    }
    const range = `from=${isoMillis(begin)}&to=${isoMillis(clock.now() + dayMs)}`
    const replay = async () => {
      const query = `${range}&speed=max&format=ndjson`
      return await (await instance.get(`/v1/changes/replay?${query}`, token)).text()
    }
    let isDone = false
    let longestMs = 0
    const watch = async () => {
      // Processor time of this thread: other tests run on the same machine.
      const spentMs = () => {
        const { user, system } = process.threadCpuUsage()
        return (user + system) / 1000
      }
      while (!isDone) {
        const beganMs = spentMs()
        await nextTurn()
        longestMs = Math.max(longestMs, spentMs() - beganMs)
      }
    }
    const begun = performance.now()
    const texts = Promise.all([replay(), replay(), replay()])
    const watching = watch()
    const replays = await texts
    isDone = true
    await watching
    const wholeMs = performance.now() - begun
    for (const text of replays) {
      const lines = text.trim().split('\n')
      const records = lines.map(line => JSON.parse(line) as WireChange)
      expect(records).toHaveLength(chunks * each)
      const places = records.map(record => `${record.recorded_at} ${record.observed_at}`)
      expect(places).toEqual(places.toSorted())
    }
    // Unsliced, one turn is a quarter of the time; a part, because the machine may be busy.
    expect(longestMs).toBeLessThan(wholeMs / 8)
  }, 60_000)
})
