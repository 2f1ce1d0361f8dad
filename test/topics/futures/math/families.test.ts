import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  contractCode,
  families,
  familyBySlug,
  familyByStructure,
  namesOf,
  parseContract,
  parseContractCode,
  slugsOf,
  structureNames,
} from '../../../../src/topics/futures/math/families.ts'

const words = ['exch', 'old']

describe('slugs', () => {
  test('every futures slug of the API resolves to its contract family in any letter case', () => {
    const table: Record<string, string[]> = {
      BRENT_FUTURES: ['exch-brent', 'old-brent', 'brent', 'BZ', 'Brent'],
      WTI_FUTURES: ['exch-wti', 'OLD-WTI', 'wti', 'CL'],
      GASOIL_FUTURES: ['exch-gasoil', 'old-gasoil', 'gasoil', 'G', 'QS'],
      NATURAL_GAS_FUTURES: ['natural-gas', 'NG', 'natgas'],
      EUA_FUTURES: ['eua-carbon', 'eu-carbon', 'EUA', 'EU_CARBON'],
      TTF_FUTURES: ['ttf-gas', 'TTF'],
      JKM_FUTURES: ['lng-jkm', 'JKM', 'LNG'],
      UKA_FUTURES: ['uk-carbon', 'uka-carbon', 'uka', 'ukets-carbon', 'UK_CARBON'],
    }
    for (const [code, names] of Object.entries(table))
      for (const name of names)
        expect(familyBySlug(name, words)?.family.code, name).toBe(code as never)
    expect(Object.keys(table).toSorted()).toEqual(families.map(f => f.code).toSorted())
  })

  test('the canonical slug is returned: of two the requested one, of exchange words the first', () => {
    const slugOf = (name: string) => familyBySlug(name, words)?.slug
    expect(['old-brent', 'BZ', 'eu-carbon', 'eua', 'uka'].map(slugOf)).toEqual([
      'exch-brent',
      'exch-brent',
      'eu-carbon',
      'eua-carbon',
      'uk-carbon',
    ])
  })

  test('`.N` picks the Nth of twelve listed months', () => {
    expect(familyBySlug('CL.2', words)).toMatchObject({ slug: 'exch-wti', nth: 2 })
    expect(familyBySlug('exch-brent.12', words)).toMatchObject({ slug: 'exch-brent', nth: 12 })
    expect(familyBySlug('CL', words)?.nth).toBeUndefined()
    for (const name of [
      'CL.0',
      'CL.13',
      'CL.',
      'CL.x',
      'CL.02',
      'new-brent',
      'exch-natural-gas',
      '',
    ])
      expect(familyBySlug(name, words), name).toBeUndefined()
  })

  test('no name belongs to two families', () => {
    const all = families.flatMap(family => namesOf(family, words))
    expect(new Set(all).size).toBe(all.length)
    expect(families.flatMap(family => slugsOf(family, words))).toEqual([
      'exch-brent',
      'exch-wti',
      'exch-gasoil',
      'natural-gas',
      'eua-carbon',
      'eu-carbon',
      'ttf-gas',
      'lng-jkm',
      'uk-carbon',
    ])
  })

  test('curve structure takes five families by word, code or slug', () => {
    expect(structureNames(words)).toEqual([
      'EXCH_BRENT',
      'EXCH_WTI',
      'EXCH_GASOIL',
      'EXCH_NG',
      'EXCH_TTF',
    ])
    for (const name of ['EXCH_NG', 'old_ng', 'NATURAL_GAS_FUTURES', 'natural-gas']) {
      expect(familyByStructure(name, words)?.code, name).toBe('NATURAL_GAS_FUTURES')
    }
    for (const name of ['EXCH_EUA', 'eua-carbon', 'JKM_FUTURES', 'NEW_BRENT', 'CL.2'])
      expect(familyByStructure(name, words), name).toBeUndefined()
  })
})

describe('contract codes', () => {
  test('go there and back', () => {
    for (const { code } of families) {
      expect(parseContractCode(contractCode(code, '2026-12').toLowerCase())).toMatchObject({
        family: { code },
        month: '2026-12',
      })
    }
    for (const text of [
      'BRENT_FUTURES',
      'BRENT_FUTURES_2026_13',
      'BRENT_FUTURES_2026',
      'WTI_USD_2026_12',
      'BRENT_FUTURES_26_12',
    ]) {
      expect(parseContractCode(text), text).toBeUndefined()
    }
  })

  test('a contract is a month, a code of the family, or a position', () => {
    expect(parseContract('2026-12', 'WTI_FUTURES')).toEqual({ month: '2026-12' })
    expect(parseContract('wti_futures_2027_01', 'WTI_FUTURES')).toEqual({ month: '2027-01' })
    expect(parseContract('3', 'WTI_FUTURES')).toEqual({ nth: 3 })
    for (const text of ['0', '13', '2026-13', 'BRENT_FUTURES_2027_01', '', 'front', '1.5'])
      expect(parseContract(text, 'WTI_FUTURES'), text).toBeUndefined()
  })
})

test('families agree with the catalogue on name, currency and unit', () => {
  const rows = readFileSync(resolve(import.meta.dir, '../../../../fixtures/codes.tsv'), 'utf8')
    .split('\n')
    .map(line => line.split('\t'))
    .filter(row => row[2] === 'futures')
  const shipped = rows.map(([code, name, , currency, unit]) => ({ code, name, currency, unit }))
  expect(
    families
      .map(({ code, name, currency, unit }) => ({ code, name, currency, unit }))
      .toSorted((a, b) => (a.code < b.code ? -1 : 1)),
  ).toEqual(shipped as never)
})
