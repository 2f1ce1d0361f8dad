import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const root = temporaryDir()
afterAll(() => remove(root))
const head = 'code,observed_at,price,currency\n'

test('an export has the values of one source alone, and refuses one that nothing is of', async () => {
  const dir = join(root, 'data')
  emptyDirectory(dir)
  for (const [name, day, price] of [
    ['EIA', '18', 71.2],
    ['Desk', '19', 71.5],
  ] as const) {
    const file = join(root, `${name}.csv`)
    writeFileSync(file, `code,observed_at,price\nWTI_USD,2026-11-${day}T15:00:00Z,${price}\n`)
    expect(await command('import', file, '--source', name, '--data', dir)).toMatchObject({
      code: 0,
    })
  }
  const exported = await command('export', '--source', 'eia', '--data', dir)
  expect(exported.out.trimEnd()).toBe(`${head}WTI_USD,2026-11-18T15:00:00Z,71.2,USD`)
  const refused = await command('export', '--source', 'Reuters', '--data', dir)
  expect({ code: refused.code, err: refused.err }).toEqual({
    code: 1,
    err: expect.stringContaining('there are EIA, Desk'),
  })
})

test('the operator can export one source over HTTP', async () => {
  const { services, send, get } = openTestInstance()
  const headers = {
    authorization: `Bearer ${services.adminTokens.rotate()}`,
    'content-type': 'application/json',
  }
  for (const [source, day] of [
    ['EIA', '18'],
    ['Desk', '19'],
  ])
    await send(
      'POST',
      '/admin/v1/observations',
      {
        source,
        observations: [{ code: 'WTI_USD', observed_at: `2026-11-${day}T15:00:00Z`, price: 71 }],
      },
      undefined,
      headers,
    )
  const ask = (query: string) => get(`/admin/v1/export?${query}`, undefined, headers)
  expect(await (await ask('source=Desk')).text()).toBe(
    `${head}WTI_USD,2026-11-19T15:00:00Z,71,USD\n`,
  )
  for (const query of ['source=Reuters', 'source=Desk&format=parquet'])
    expect((await ask(query)).status).toBe(400)
})

test('an import file can name the source of each row and mark rows as deleted', async () => {
  const dir = join(root, 'rows')
  emptyDirectory(dir)
  const file = join(root, 'rows.csv')
  const load = async (text: string, ...options: string[]) => {
    writeFileSync(file, text)
    return command('import', file, '--data', dir, ...options)
  }
  const columns = 'code,observed_at,price,source,deleted\n'
  expect(
    await load(
      `${columns}WTI_USD,2026-10-06,71.2,EIA,\nWTI_USD,2026-10-07,71.5,"Desk, London",\nWTI_USD,2026-10-08,71.4,,\n`,
      '--source',
      'Reuters',
    ),
  ).toMatchObject({ code: 0, out: expect.stringContaining('inserted 3') })
  const exported = async (source: string) =>
    (await command('export', '--source', source, '--data', dir)).out.trimEnd().split('\n').slice(1)
  expect(await exported('eia')).toEqual(['WTI_USD,2026-10-06T00:00:00Z,71.2,USD'])
  expect(await exported('Desk, London')).toEqual(['WTI_USD,2026-10-07T00:00:00Z,71.5,USD'])
  expect(await exported('reuters')).toEqual(['WTI_USD,2026-10-08T00:00:00Z,71.4,USD'])

  expect(await load(`${columns}WTI_USD,2026-10-07,,,true\n`)).toMatchObject({ code: 0 })
  const history = await command('export', 'WTI_USD', '--history', '--data', dir)
  const [head, ...rows] = history.out.trimEnd().split('\n')
  expect(head).toBe('code,observed_at,price,currency,source,recorded_at,deleted')
  expect(rows.map(row => row.replace(/,[^,]*Z,/, ',').replace(/,[^,]*Z,/, ','))).toEqual([
    'WTI_USD,71.2,USD,EIA,',
    'WTI_USD,71.5,USD,"Desk, London",',
    'WTI_USD,,USD,"Desk, London",true',
    'WTI_USD,71.4,USD,Reuters,',
  ])
  expect((await command('verify', '--data', dir)).code).toBe(0)
  const wrong = await load(`${columns}WTI_USD,2026-10-09,70,EIA,perhaps\n`)
  expect({ code: wrong.code, err: wrong.err }).toEqual({
    code: 2,
    err: expect.stringContaining('deleted perhaps must be true or false'),
  })
})
