import { describe, expect, test } from 'bun:test'
import { commandEnvironment } from '../../../src/cli/command.ts'
import { listSources, syncSource } from '../../../src/cli/data/sources.ts'
import { ran } from '../../support/instance/command.ts'
import { openSourceInstance, row, rowServer } from '../../support/topics/sources.ts'

/**
 * A command line of the operator over an instance; `lines` and `faults` are what it printed since they
 * were last taken.
 */
function terminal(json = false) {
  const instance = openSourceInstance()
  const admin = instance.services.adminTokens.rotate()
  const lines: string[] = []
  const faults: string[] = []
  const env = commandEnvironment({
    operator: {
      async call(method, path, body) {
        const headers = { authorization: `Bearer ${admin}` }
        const answer =
          body === undefined && method === 'GET'
            ? await instance.get(path, undefined, headers)
            : await instance.send(method, path, body, undefined, headers)
        const text = await answer.text()
        return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
      },
    },
    out: line => void lines.push(line),
    err: line => void faults.push(line),
    json,
  })
  return { instance, env, taken: () => lines.splice(0), faulted: () => faults.splice(0) }
}

describe('sources sync', () => {
  test('reads a source at once by name or id and prints the counts', async () => {
    const rows = rowServer(() =>
      Response.json([row, { ...row, port: 'ROTTERDAM' }, { ...row, price: null }]),
    )
    try {
      const { instance, env, taken, faulted } = terminal()
      const id = await instance.make({
        name: 'Terminal feed',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      expect(await ran(env, 'sources sync', syncSource, 'terminal FEED')).toBe(0)
      expect(taken()).toEqual([
        'Terminal feed: read 3, inserted 2, revised 0, unchanged 0, rejected 1',
      ])
      expect(faulted()).toEqual([expect.stringMatching(/^sources sync: row 3: price is missing/)])
      expect(await ran(env, 'sources sync', syncSource, id)).toBe(0)
      expect(taken()).toEqual([
        'Terminal feed: read 3, inserted 0, revised 0, unchanged 2, rejected 1',
      ])
      expect(rows.requests).toHaveLength(2)
      const source = instance.source(id)
      expect({
        status: source.status,
        successfulSyncs: source.successfulSyncs,
        nextSyncAt: source.nextSyncAt,
      }).toEqual({
        status: 'active',
        successfulSyncs: 2,
        nextSyncAt: instance.clock.now() + 3_600_000,
      })
      expect(instance.services.dataSources.logs(source).map(log => log.trigger)).toEqual([
        'operator',
        'operator',
      ])
    } finally {
      rows.stop()
    }
  })

  test('of a source that cannot be read says why, writes the failure down and exits with 1', async () => {
    const rows = rowServer(() => new Response('closed', { status: 503 }))
    try {
      const { instance, env, taken, faulted } = terminal()
      const id = await instance.make({
        name: 'down',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      expect(await ran(env, 'sources sync', syncSource, 'down')).toBe(1)
      expect(taken()).toEqual(['down: read 0, inserted 0, revised 0, unchanged 0, rejected 0'])
      expect(faulted()).toEqual([expect.stringMatching(/^sources sync: .*503/)])
      expect({
        status: instance.source(id).status,
        failedSyncs: instance.source(id).failedSyncs,
      }).toEqual({ status: 'error', failedSyncs: 1 })
    } finally {
      rows.stop()
    }
  })

  test('of a name that several have lists them and syncs none; an id is good for one of them, whatever others are called', async () => {
    const { instance, env, faulted } = terminal()
    const first = await instance.make({
      name: 'feed',
      source_type: 'file',
      scraper_config: { path: 'a.csv' },
    })
    const second = await instance.make(
      { name: 'FEED', source_type: 'file', scraper_config: { path: 'b.csv' } },
      instance.key(),
    )
    await instance.make({ name: first, source_type: 'file', scraper_config: { path: 'c.csv' } })
    expect(await ran(env, 'sources sync', syncSource, 'Feed')).toBe(1)
    const output = faulted().join('\n')
    for (const part of [
      first,
      second,
      'person1@example.com',
      'person2@example.com',
      '2 data sources',
    ])
      expect(output).toContain(part)
    expect(instance.source(first).failedSyncs).toBe(0)
    expect(instance.source(second).failedSyncs).toBe(0)
    await ran(env, 'sources sync', syncSource, first)
    expect(instance.source(first).failedSyncs).toBe(1)
    expect(instance.source(second).failedSyncs).toBe(0)
  })

  test.each([
    ['unknown', {}, /No data source has the name or id "unknown"/],
    [
      'held',
      {
        name: 'held',
        source_type: 'api',
        status: 'paused',
        scraper_config: { url: 'http://127.0.0.1:1/' },
      },
      /paused/,
    ],
    [
      'pushed',
      { name: 'pushed', source_type: 'webhook', credentials: { secret: 'x'.repeat(32) } },
      /rows are pushed to it/,
    ],
  ])('of %s is refused, and nothing is written down', async (name, source, message) => {
    const { instance, env, taken, faulted } = terminal()
    const id = 'name' in source ? await instance.make(source) : undefined
    const before = id === undefined ? undefined : instance.source(id)
    expect(await ran(env, 'sources sync', syncSource, name)).toBe(1)
    expect(faulted().join()).toMatch(message)
    expect(taken()).toEqual([])
    if (id) expect(instance.source(id)).toEqual(before as never)
  })

  test('a sync that is overtaken by a change of its source writes nothing and reports it', async () => {
    let change = () => {}
    const rows = rowServer(() => {
      change()
      return Response.json([row])
    })
    try {
      const { instance, env, faulted } = terminal()
      const id = await instance.make({
        name: 'moved',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      change = () =>
        void instance.services.dataSources.change(instance.source(id), {
          scraperConfig: { url: `${rows.url}?other` },
        })
      expect(await ran(env, 'sources sync', syncSource, 'moved')).toBe(1)
      expect(faulted()).toEqual([
        'sources sync: The data source was not synced: it was changed or deleted during the sync.',
      ])
      expect({
        successfulSyncs: instance.source(id).successfulSyncs,
        newestRows: instance.services.dataSources.newestRows(instance.source(id), 1),
      }).toEqual({ successfulSyncs: 0, newestRows: [] })
    } finally {
      rows.stop()
    }
  })

  test('of a suspended account is refused', async () => {
    const { instance, env, faulted } = terminal()
    const id = await instance.make({
      name: 'theirs',
      source_type: 'file',
      scraper_config: { path: 'a.csv' },
    })
    const { account } = instance.services.keys.account(instance.source(id).accountId)!
    instance.services.keys.putAccount({ ...account, suspendedAt: instance.clock.now() })
    expect(await ran(env, 'sources sync', syncSource, 'theirs')).toBe(1)
    expect(faulted().join()).toContain('the account is suspended')
    expect(instance.services.dataSources.logs(instance.source(id))).toEqual([])
  })

  test('while the source is being synced is refused, and the sync under way ends as it would have', async () => {
    const open = Promise.withResolvers<void>()
    const request = Promise.withResolvers<void>()
    const rows = rowServer(async () => {
      request.resolve()
      await open.promise
      return Response.json([row])
    })
    try {
      const { instance, env, faulted } = terminal()
      const id = await instance.make({
        name: 'slow',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      const first = ran(env, 'sources sync', syncSource, 'slow')
      await request.promise
      expect(await ran(env, 'sources sync', syncSource, 'slow')).toBe(1)
      expect(faulted()).toEqual([
        'sources sync: The data source was not synced: it is being synced at this moment.',
      ])
      open.resolve()
      expect(await first).toBe(0)
      expect(instance.source(id).successfulSyncs).toBe(1)
    } finally {
      open.resolve()
      rows.stop()
    }
  })
})

describe('sources list', () => {
  test('prints those of all accounts, oldest first, over all pages and without what only their owners may see', async () => {
    const { instance, env, taken } = terminal()
    const at = instance.clock.now()
    for (let i = 0; i < 205; i += 1) {
      if (i % 25 === 0) instance.key()
      const account = instance.services.keys.accounts().at(-1)!
      instance.services.dataSources.create(account, {
        name: `feed ${i}`,
        sourceType: 'api',
        scraperConfig: { url: `https://example.com/private-${i}` },
      })
    }
    expect(await ran(env, 'sources list', listSources)).toBe(0)
    const [head, ...lines] = taken()
    expect(head).toMatch(/^ID +NAME +TYPE +ACCOUNT +STATUS +LAST SYNC +NEXT SYNC +LAST ERROR$/)
    expect(lines.map(line => /feed \d+/.exec(line)![0])).toEqual(
      Array.from({ length: 205 }, (_, i) => `feed ${i}`),
    )
    expect(lines[0]).toContain(new Date(at).toISOString().slice(0, 19))
    expect(lines.join()).not.toContain('private')
  })

  test('prints JSON, and a name with control characters does not reach the terminal', async () => {
    const { instance, env, taken } = terminal(true)
    await instance.make({ name: 'red', source_type: 'file' })
    expect(await ran(env, 'sources list', listSources)).toBe(0)
    expect(JSON.parse(taken().join('\n'))).toEqual([
      expect.objectContaining({ name: 'red', account_email: 'person1@example.com' }),
    ])
    const table = terminal()
    const account = table.instance.services.keys.accounts()[0]!
    table.instance.services.dataSources.create(account, {
      name: 'red\u001b[31m',
      sourceType: 'api',
    })
    await listSources(table.env)
    expect(table.taken().join('\n')).toContain('red\\u001b[31m')
  })
})
