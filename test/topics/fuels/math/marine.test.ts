import { describe, expect, test } from 'bun:test'
import { shippedPorts } from '../../../../src/topics/catalogue/files/ports.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import {
  gradeOf,
  grades,
  marineCode,
  portOf,
  regionOf,
} from '../../../../src/topics/fuels/math/marine.ts'

const ports = shippedPorts()

describe('names', () => {
  test('of grades are the grade or an alias, however written', () => {
    const table: [string, string | undefined][] = [
      ['VLSFO', 'VLSFO'],
      ['vlsfo', 'VLSFO'],
      ['VLSFO_05S', 'VLSFO'],
      ['MGO', 'MGO_05S'],
      ['mgo_05s', 'MGO_05S'],
      ['IFO380', 'HFO_380'],
      ['HSFO', 'HFO_380'],
      ['HFO380', 'HFO_380'],
      ['hfo 380', 'HFO_380'],
      ['IFO180', 'HFO_180'],
      ['ULSFO', undefined],
      ['', undefined],
      ['__proto__', undefined],
    ]
    for (const [text, grade] of table)
      expect(gradeOf(text), text).toBe(grade as ReturnType<typeof gradeOf>)
  })

  test('of ports are code, short code, slug and name, in any case', () => {
    for (const text of ['HKHKG', 'hkg', 'HONG_KONG', 'Hong Kong', 'hong-kong'])
      expect(portOf(ports, text)?.code, text).toBe('HKHKG')
    for (const text of ['', ' ', 'SING', 'LONDON'])
      expect(portOf(ports, text), text).toBeUndefined()
  })

  test('of regions are those of the ports, and groups where they are meant', () => {
    expect(regionOf('middle east', false)).toEqual({
      name: 'Middle East',
      regions: ['Middle East'],
    })
    expect(regionOf('AMERICAS', false)).toEqual({ name: 'Americas', regions: ['Americas'] })
    expect(regionOf('emea', true)).toEqual({ name: 'EMEA', regions: ['Europe', 'Middle East'] })
    expect(regionOf('emea', false)).toBeUndefined()
    expect(regionOf('Africa', true)).toBeUndefined()
  })
})

describe('the ports that ship', () => {
  test('are eight, the one that sells most first, each with a series of each of its grades', () => {
    expect(ports.map(port => port.shortCode)).toEqual([
      'SIN',
      'RTM',
      'FJR',
      'ZOS',
      'HOU',
      'HKG',
      'GIB',
      'NYC',
    ])
    const codes = new Set(shippedCatalogue().series.map(series => series.code))
    for (const port of ports) {
      expect([...port.fuels]).toEqual([...grades])
      for (const grade of port.fuels)
        expect(codes.has(marineCode(grade, port)), marineCode(grade, port)).toBe(true)
    }
    for (const grade of grades) expect(codes.has(marineCode(grade, undefined)), grade).toBe(true)
  })

  test('lie where their zones are', () => {
    for (const port of ports)
      expect(() => new Intl.DateTimeFormat('en', { timeZone: port.timezone })).not.toThrow()
    const singapore = portOf(ports, 'SIN')!
    expect(singapore).toMatchObject({
      country: 'SG',
      region: 'Asia',
      latitude: 1.26,
      longitude: 103.84,
      major: true,
      tradingHours: '24/7',
      volumeRank: 1,
    })
    expect(portOf(ports, 'HOU')!.longitude).toBe(-95.02)
  })
})
