import { describe, expect, test } from 'bun:test'
import { seriesOfFile } from '../../src/cli/data/series.ts'

describe('a file of many own series', () => {
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
    expect(seriesOfFile('desk.toml', text)).toEqual([
      { code: 'DESK_GASOIL_USD', unit: 'metric_ton', currency: 'USD', aliases: ['DGO'] },
      { code: 'DESK_LOAD', unit: 'percent', max: 100, release_days: ['15', 'last'] },
    ])
    expect(() => seriesOfFile('desk.toml', 'code = 1')).toThrow('desk.toml has no [[series]]')
    expect(() => seriesOfFile('desk.toml', '[[series')).toThrow(/desk\.toml:\d+:\d+/)
  })

  test('is CSV with a column for each term; an empty field says nothing', () => {
    const text =
      'code;name;unit;currency;max;aliases;release_days\r\nDESK_A;"Mark; A";barrel;USD;200;A1 A2;mon,thu\r\nDESK_B;B;percent;;;;\r\n'
    expect(seriesOfFile('desk.csv', text)).toEqual([
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
    expect(() => seriesOfFile('desk.csv', 'unit\nbarrel\n')).toThrow('no column code')
  })

  test('is refused with a name that is no term, which would be lost unseen', () => {
    expect(() => seriesOfFile('desk.csv', 'code,decimls\nDESK_A,2\n')).toThrow(
      'desk.csv:1: decimls is no term of a series; these are: code, name,',
    )
    const toml = '[[series]]\ncode = "A"\n[[series]]\ncode = "B"\nmaximum = 3\n'
    expect(() => seriesOfFile('desk.toml', toml)).toThrow(
      'desk.toml: [[series]] 2: maximum is no term of a series',
    )
    expect(() => seriesOfFile('desk.toml', 'series = [1]')).toThrow('[[series]] 1 is no table')
  })

  test('says lists in TOML as the options do, too', () => {
    const toml =
      '[[series]]\ncode = "A"\nvisible_to = "ann@example.com"\nguards = "jump=off,repeat=hold"\n'
    expect(seriesOfFile('desk.toml', toml)).toEqual([
      { code: 'A', visible_to: ['ann@example.com'], guards: { jump: 'off', repeat: 'hold' } },
    ])
  })
})
