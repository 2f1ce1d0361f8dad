import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seriesOfFile } from '../../../src/cli/data/series.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

const termsIn = (file: string, text: string) => seriesOfFile(file, text).map(({ terms }) => terms)

describe('a file of many custom series', () => {
  test('is TOML with a table for each', () => {
    const text = `
[[series]]
code = "DESK_GASOIL_USD"
unit = "metric_ton"
currency = "USD"
aliases = ["DGO"]

[[series]]
code = "DESK_LOAD"
unit = "percent"
max = 100
release_days = ["15", "last"]
`
    expect(termsIn('desk.toml', text)).toEqual([
      { code: 'DESK_GASOIL_USD', unit: 'metric_ton', currency: 'USD', aliases: ['DGO'] },
      { code: 'DESK_LOAD', unit: 'percent', max: 100, release_days: ['15', 'last'] },
    ])
    expect(() => seriesOfFile('desk.toml', 'code = 1')).toThrow(
      'desk.toml must have a [[series]] table',
    )
    expect(() => seriesOfFile('desk.toml', '[[series')).toThrow(/desk\.toml:\d+:\d+/)
  })

  test('a CSV file of custom series has one column per property, and an empty field sets nothing', () => {
    const text =
      'code;name;unit;currency;max;aliases;release_days\r\nDESK_A;"Mark; A";barrel;USD;200;A1 A2;mon,thu\r\nDESK_B;B;percent;;;;\r\n'
    expect(termsIn('desk.csv', text)).toEqual([
      {
        code: 'DESK_A',
        name: 'Mark; A',
        unit: 'barrel',
        currency: 'USD',
        max: 200,
        aliases: ['A1', 'A2'],
        release_days: ['mon', 'thu'],
      },
      { code: 'DESK_B', name: 'B', unit: 'percent', currency: null },
    ])
    expect(() => seriesOfFile('desk.csv', 'code,unit\nA,barrel,USD\n')).toThrow('desk.csv:2:')
    expect(() => seriesOfFile('desk.csv', 'unit\nbarrel\n')).toThrow('must have a column code')
  })

  test('is refused with an unknown attribute, which would be ignored silently', () => {
    expect(() => seriesOfFile('desk.csv', 'code,decimls\nDESK_A,2\n')).toThrow(
      'desk.csv:1: decimls is not a field of a series; the fields are: code, name,',
    )
    const toml = '[[series]]\ncode = "A"\n[[series]]\ncode = "B"\nmaximum = 3\n'
    expect(() => seriesOfFile('desk.toml', toml)).toThrow(
      'desk.toml: [[series]] 2: maximum is not a field of a series',
    )
    expect(() => seriesOfFile('desk.toml', 'series = [1]')).toThrow('[[series]] 1 must be a table')
  })

  test('a TOML file of custom series accepts lists in the notation of the command options', () => {
    const toml =
      '[[series]]\ncode = "A"\nvisible_to = "ann@example.com"\nguards = "jump=off,repeat=hold"\n'
    expect(termsIn('desk.toml', toml)).toEqual([
      { code: 'A', visible_to: ['ann@example.com'], guards: { jump: 'off', repeat: 'hold' } },
    ])
  })
})

test('a fault in a file of series is named by its line, and none is added', async () => {
  const dir = temporaryDir()
  const file = join(dir, 'desk.csv')
  const data = emptyDirectory(join(dir, 'data'))
  const run = (...args: string[]) => command('series', ...args, '--data', data)
  writeFileSync(
    file,
    'code,name,category,unit,cadence\nDESK_A,A,desk,percent,daily\nDESK_B,B,desk,percent,hourlyish\n',
  )
  const { code, err } = await run('add', '--file', file)
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`${file}:3: cadence`) })
  expect((await run('list', '--own')).out).not.toContain('DESK_A')
  remove(dir)
}, 20_000)

test('a word of a new series that may be a typing error is reported, and the series is added', async () => {
  const dir = temporaryDir()
  const data = emptyDirectory(join(dir, 'data'))
  const run = (line: string) => command('series', ...line.split(' '), '--data', data)
  const added = await run(
    'add DESK_A --name A --category crude_oil --unit barel --currency USD --cadence daily',
  )
  expect({ code: added.code, err: added.err.trim() }).toEqual({
    code: 0,
    err: 'series add: DESK_A: unit barel is new. Did you mean barrel?',
  })
  const refused = await run('add DESK_B --name B --category crude_oil --unit barrel --currency UDS')
  expect({ code: refused.code, err: refused.err }).toEqual({
    code: 1,
    err: expect.stringContaining('Did you mean USD?'),
  })
  remove(dir)
}, 20_000)

test('a series of delivery periods is listed with their length as its cadence', async () => {
  const dir = temporaryDir()
  const data = emptyDirectory(join(dir, 'data'))
  const run = (line: string) => command('series', ...line.split(' '), '--data', data)
  const { code, out, err } = await run(
    'add DESK_POWER_EUR --name Power --category power --unit mwh --currency EUR --time delivery --zone Europe/Berlin --resolution PT1H',
  )
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(' PT1H ')
  expect(out).not.toContain('intraday')
  remove(dir)
}, 20_000)
