import type { Database } from 'bun:sqlite'
import { dayMs, parseDay } from '../../lib/instant.ts'
import {
  countyKey,
  formationKey,
  operatorKey,
  permitReference,
  titled,
  wordKey,
} from '../../market/drilling/permits.ts'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'
import { createPermitPeriods } from './permit-periods.ts'
import { createPermitTerms, type PermitTerms } from './permit-terms.ts'

/** A permit to drill a well as its state lists it. */
export interface WellPermit {
  state: string
  permitOn: string
  permitNumber: string | null
  permitType: string
  permitStatus: string
  /** Fourteen digits. */
  apiNumber: string | null
  /** As the source wrote it; empty where it has none. */
  apiNumberRaw: string
  county: string | null
  operator: string
  operatorNumber: string | null
  wellName: string
  wellNumber: string | null
  wellType: string
  formation: string | null
  /** Feet. */
  totalDepth: number | null
  /** Degrees, to a millionth. */
  latitude: number | null
  longitude: number | null
  section: string | null
  township: string | null
  range: string | null
  source: string
  sourceUrl: string
  fetchedAt: number
  dataAsOfOn: string
}

export interface StoredPermit extends WellPermit {
  id: number
  /**
   * One name for every way in which the operator writes itself; `operator` is as filed. The same of
   * the formation.
   */
  operatorName: string
  operatorKey: string
  formationName: string | null
  formationKey: string | null
  recordedAt: number
}

export interface PermitWrites {
  counts: WriteCounts
  /** Permits that were not there, in the order of their days. */
  inserted: { id: number; state: string; permitOn: string }[]
  statusChanges: { id: number; from: string; to: string }[]
}

export interface WellPermitStore {
  /**
   * One transaction. The same permit again is unchanged, whenever it was fetched; anything else
   * under a known reference replaces it.
   */
  write(permits: readonly WellPermit[], recordedAt: number): PermitWrites
  /** In the order of the ids. */
  rows(ids: readonly number[]): StoredPermit[]
  /** Of one well, oldest first. */
  ofWell(apiNumber: string): StoredPermit[]
  /** When the list of a state was last read. */
  readAt(state: string): number | undefined
}

const factColumns = [
  'permit_on',
  'state_id',
  'county_id',
  'operator_id',
  'formation_id',
  'permit_type_id',
  'well_type_id',
  'well_name_id',
] as const
type Facts = Record<Exclude<(typeof factColumns)[number], 'permit_on'>, number | null> & {
  permit_on: string
}

const textColumns = [
  'permit_number',
  'permit_status',
  'api_number',
  'api_number_raw',
  'operator_raw',
  'operator_number',
  'well_number',
  'formation_raw',
  'total_depth',
  'latitude',
  'longitude',
  'section',
  'township',
  'range',
  'source',
  'source_url',
] as const
const stampColumns = ['fetched_at', 'data_as_of_on', 'recorded_at'] as const

interface Papers {
  permit_number: string | null
  permit_status: string
  api_number: string | null
  api_number_raw: string
  operator_raw: string
  operator_number: string | null
  well_number: string | null
  formation_raw: string | null
  total_depth: number | null
  latitude: number | null
  longitude: number | null
  section: string | null
  township: string | null
  range: string | null
  source: string
  source_url: string
  fetched_at: number
  data_as_of_on: string
  recorded_at: number
}

interface Row extends Papers {
  id: number
  permit_on: string
  state_code: string
  county: string | null
  operator_name: string
  operator_key: string
  formation_name: string | null
  formation_key: string | null
  permit_type: string
  well_type: string
  well_name: string
}

const permitOf = (row: Row): StoredPermit => ({
  id: row.id,
  state: row.state_code,
  permitOn: row.permit_on,
  permitNumber: row.permit_number,
  permitType: row.permit_type,
  permitStatus: row.permit_status,
  apiNumber: row.api_number,
  apiNumberRaw: row.api_number_raw,
  county: row.county,
  operator: row.operator_raw,
  operatorName: row.operator_name,
  operatorKey: row.operator_key,
  operatorNumber: row.operator_number,
  wellName: row.well_name,
  wellNumber: row.well_number,
  wellType: row.well_type,
  formation: row.formation_raw,
  formationName: row.formation_name,
  formationKey: row.formation_key,
  totalDepth: row.total_depth,
  latitude: row.latitude,
  longitude: row.longitude,
  section: row.section,
  township: row.township,
  range: row.range,
  source: row.source,
  sourceUrl: row.source_url,
  fetchedAt: row.fetched_at,
  dataAsOfOn: row.data_as_of_on,
  recordedAt: row.recorded_at,
})

const papersOf = (permit: WellPermit, recordedAt: number): Papers => ({
  permit_number: permit.permitNumber,
  permit_status: permit.permitStatus,
  api_number: permit.apiNumber,
  api_number_raw: permit.apiNumberRaw,
  operator_raw: permit.operator,
  operator_number: permit.operatorNumber,
  well_number: permit.wellNumber,
  formation_raw: permit.formation,
  total_depth: permit.totalDepth,
  latitude: permit.latitude,
  longitude: permit.longitude,
  section: permit.section,
  township: permit.township,
  range: permit.range,
  source: permit.source,
  source_url: permit.sourceUrl,
  fetched_at: permit.fetchedAt,
  data_as_of_on: permit.dataAsOfOn,
  recorded_at: recordedAt,
})

const stateTerm = (filed: string) => ({ name: filed, label: filed })
const operatorTerm = (filed: string) => ({ name: operatorKey(filed), label: filed })
const wordTerm = (filed: string) => ({ name: wordKey(filed), label: filed })
const formationTerm = (filed: string) => {
  const name = formationKey(filed)
  return { name, label: titled(name) }
}
/** A county as `TX/Reagan`: several states have one of the same name. */
const countyTerm = (filed: string) => {
  const name = countyKey(filed.slice(3))
  return { name: `${filed.slice(0, 3)}${name}`, label: titled(name) }
}

const factsOf = (permit: WellPermit, terms: PermitTerms): Facts => ({
  permit_on: permit.permitOn,
  state_id: terms.id('state', permit.state, stateTerm),
  county_id:
    permit.county === null
      ? null
      : terms.id('county', `${permit.state}/${permit.county}`, countyTerm),
  operator_id: terms.id('operator', permit.operator, operatorTerm),
  formation_id:
    permit.formation === null ? null : terms.id('formation', permit.formation, formationTerm),
  permit_type_id: terms.id('permit_type', permit.permitType, wordTerm),
  well_type_id: terms.id('well_type', permit.wellType, wordTerm),
  well_name_id: terms.wellNameId(permit.wellName),
})

const millionths = (degrees: number) => Math.round(degrees * 1e6)
export const dayNumberOf = (day: string): number => parseDay(day)! / dayMs

/** Where and when a permit is found by place; undefined without a place. */
const cornerOf = (day: string, { latitude, longitude }: Pick<Papers, 'latitude' | 'longitude'>) =>
  latitude === null || longitude === null
    ? undefined
    : ([millionths(latitude), millionths(longitude), dayNumberOf(day)] as const)

export function createWellPermitStore(db: Database): WellPermitStore {
  const writer = permitWriter(db)
  const read = (from: string, order: string) => `
    SELECT p.id, f.permit_on, p.state_code, county.label AS county, operator.label AS operator_name, operator.name AS operator_key,
      formation.label AS formation_name, formation.name AS formation_key, permit_type.name AS permit_type, well_type.name AS well_type,
      well.name AS well_name, ${[...textColumns, ...stampColumns].map(name => `p.${name}`).join(', ')}
    FROM ${from} JOIN well_permits f ON f.id = p.id
      JOIN permit_terms operator ON operator.id = f.operator_id
      JOIN permit_terms permit_type ON permit_type.id = f.permit_type_id
      JOIN permit_terms well_type ON well_type.id = f.well_type_id
      JOIN permit_well_names well ON well.id = f.well_name_id
      LEFT JOIN permit_terms county ON county.id = f.county_id
      LEFT JOIN permit_terms formation ON formation.id = f.formation_id
    ORDER BY ${order}`
  const listed = db.query<Row, [string]>(
    read('json_each(?) asked CROSS JOIN well_permit_papers p ON p.id = asked.value', 'asked.key'),
  )
  const ofWell = db.query<Row, [string]>(
    read(
      '(SELECT * FROM well_permit_papers WHERE api_number = ? AND api_number IS NOT NULL) p',
      'f.permit_on, p.id',
    ),
  )
  const readAt = db.query<{ read_at: number }, [string]>(
    'SELECT read_at FROM permit_reads WHERE state_code = ?',
  )
  return {
    write: (permits, recordedAt) => transact(db, () => writer(permits, recordedAt)),
    rows: ids => listed.all(JSON.stringify(ids)).map(permitOf),
    ofWell: apiNumber => ofWell.all(apiNumber).map(permitOf),
    readAt: state => readAt.get(state)?.read_at,
  }
}

function permitWriter(db: Database) {
  const values = (names: readonly string[]) => names.map(() => '?').join(', ')
  // Asked for every permit of an import, nearly all of them new: a wide row costs twenty times as
  // much, even where there is none.
  const idOf = db.query<{ id: number }, [string, string]>(
    'SELECT id FROM well_permit_papers WHERE state_code = ? AND reference = ?',
  )
  const storedPermit = db.query<Facts & Papers & { id: number }, [number]>(
    `SELECT f.id, ${factColumns.map(name => `f.${name}`).join(', ')}, ${textColumns.map(name => `p.${name}`).join(', ')}
     FROM well_permit_papers p JOIN well_permits f ON f.id = p.id WHERE p.id = ?`,
  )
  const addFacts = db.query(
    `INSERT INTO well_permits (${factColumns.join(', ')}) VALUES (${values(factColumns)})`,
  )
  const setFacts = db.query(
    `UPDATE well_permits SET ${factColumns.map(name => `${name} = ?`).join(', ')} WHERE id = ?`,
  )
  const paperColumns = [...textColumns, ...stampColumns]
  const addPapers = db.query(
    `INSERT INTO well_permit_papers (id, state_code, reference, ${paperColumns.join(', ')}) VALUES (?, ?, ?, ${values(paperColumns)})`,
  )
  const setPapers = db.query(
    `UPDATE well_permit_papers SET ${paperColumns.map(name => `${name} = ?`).join(', ')} WHERE id = ?`,
  )
  const addPlace = db.query('INSERT INTO well_permit_places VALUES (?1, ?2, ?2, ?3, ?3, ?4, ?4)')
  const dropPlace = db.query('DELETE FROM well_permit_places WHERE id = ?')
  const putRead = db.query(
    'INSERT INTO permit_reads VALUES (?, ?) ON CONFLICT DO UPDATE SET read_at = max(read_at, excluded.read_at)',
  )
  const factValues = (facts: Facts) => factColumns.map(name => facts[name])
  const paperValues = (papers: Papers) => paperColumns.map(name => papers[name])

  return (permits: readonly WellPermit[], recordedAt: number): PermitWrites => {
    const [terms, periods] = [createPermitTerms(db), createPermitPeriods(db)]
    const writes: PermitWrites = {
      counts: { inserted: 0, revised: 0, unchanged: 0 },
      inserted: [],
      statusChanges: [],
    }
    const reads = new Map<string, number>()
    const insert = (permit: WellPermit, reference: string, facts: Facts, papers: Papers) => {
      const id = Number(addFacts.run(...factValues(facts)).lastInsertRowid)
      addPapers.run(id, permit.state, reference, ...paperValues(papers))
      const corner = cornerOf(permit.permitOn, papers)
      if (corner) addPlace.run(id, ...corner)
      periods.add(facts, 1)
      writes.inserted.push({ id, state: permit.state, permitOn: permit.permitOn })
    }
    const revise = (
      old: Facts & Papers & { id: number },
      permit: WellPermit,
      facts: Facts,
      papers: Papers,
    ) => {
      setFacts.run(...factValues(facts), old.id)
      setPapers.run(...paperValues(papers), old.id)
      const [before, after] = [cornerOf(old.permit_on, old), cornerOf(permit.permitOn, papers)]
      if (before?.join() !== after?.join()) {
        if (before) dropPlace.run(old.id)
        if (after) addPlace.run(old.id, ...after)
      }
      periods.add(old, -1)
      periods.add(facts, 1)
      if (old.permit_status !== papers.permit_status) {
        writes.statusChanges.push({ id: old.id, from: old.permit_status, to: papers.permit_status })
      }
    }
    // Ids are numbered in the order of the days, as far as permits come in that order.
    for (const permit of permits.toSorted((a, b) =>
      a.permitOn < b.permitOn ? -1 : a.permitOn > b.permitOn ? 1 : 0,
    )) {
      const reference = permitReference(
        permit.permitNumber,
        permit.apiNumber ?? permit.apiNumberRaw,
        permit.permitOn,
      )
      const [facts, papers] = [factsOf(permit, terms), papersOf(permit, recordedAt)]
      const storedId = idOf.get(permit.state, reference)
      const old = storedId && storedPermit.get(storedId.id)
      const isSame =
        old &&
        factColumns.every(name => old[name] === facts[name]) &&
        textColumns.every(name => old[name] === papers[name])
      if (!old) insert(permit, reference, facts, papers)
      else if (!isSame) revise(old, permit, facts, papers)
      writes.counts[!old ? 'inserted' : isSame ? 'unchanged' : 'revised'] += 1
      reads.set(
        permit.state,
        Math.max(reads.get(permit.state) ?? permit.fetchedAt, permit.fetchedAt),
      )
    }
    periods.write()
    for (const [state, at] of reads) putRead.run(state, at)
    return writes
  }
}
