import type { Database } from 'bun:sqlite'
import { selected } from '../../../database/clause.ts'
import { transact } from '../../../database/database.ts'
import { manyRows } from '../../../database/many-rows.ts'
import { lazy, statements } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import { dayMs, parseDay } from '../../../lib/time/instant.ts'
import type { WellPermit } from '../dataset/permits.ts'
import {
  countyKey,
  formationKey,
  operatorKey,
  permitReference,
  titled,
  wordKey,
} from '../math/permits.ts'
import { createPermitNames, type PermitNames } from './permit-names.ts'
import { type CountedPermit, createPermitPeriods } from './permit-periods.ts'

export interface StoredPermit extends WellPermit {
  id: number
  /**
   * One name for all spellings of the operator; `operator` is as filed. The same applies to the
   * formation.
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

export type WellPermitStore = ReturnType<typeof createWellPermitStore>

/** Columns for searching and counting permits: words by their ids. */
export interface PermitFacts extends CountedPermit {
  wellNameId: number
}

const factColumns: Readonly<Record<keyof PermitFacts, string>> = {
  permitOn: 'permit_on',
  stateId: 'state_id',
  countyId: 'county_id',
  operatorId: 'operator_id',
  formationId: 'formation_id',
  permitTypeId: 'permit_type_id',
  wellTypeId: 'well_type_id',
  wellNameId: 'well_name_id',
}
const factFields = Object.keys(factColumns) as (keyof PermitFacts)[]

/** Columns that are only shown; a permit is revised when one of these or a fact differs. */
const shownColumns = {
  permitNumber: 'permit_number',
  permitStatus: 'permit_status',
  apiNumber: 'api_number',
  apiNumberRaw: 'api_number_raw',
  operator: 'operator_raw',
  operatorNumber: 'operator_number',
  wellNumber: 'well_number',
  formation: 'formation_raw',
  totalDepth: 'total_depth',
  latitude: 'latitude',
  longitude: 'longitude',
  section: 'section',
  township: 'township',
  range: 'range',
  source: 'source',
  sourceUrl: 'source_url',
} as const satisfies Partial<Record<keyof WellPermit, string>>
type ShownField = keyof typeof shownColumns
const shownFields = Object.keys(shownColumns) as ShownField[]

const stampColumns = { fetchedAt: 'fetched_at', dataAsOfOn: 'data_as_of_on' } as const
const paperColumns = { ...shownColumns, ...stampColumns }
const paperFields = Object.keys(paperColumns) as (keyof typeof paperColumns)[]

/** A permit as it is written, under the reference that no other has. */
interface WrittenPermit {
  permit: WellPermit
  reference: string
  facts: PermitFacts
}

type StoredFacts = PermitFacts & Pick<WellPermit, ShownField> & { id: number }

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

const factsOf = (permit: WellPermit, names: PermitNames): PermitFacts => ({
  permitOn: permit.permitOn,
  stateId: names.id('state', permit.state, stateTerm),
  countyId:
    permit.county === null
      ? null
      : names.id('county', `${permit.state}/${permit.county}`, countyTerm),
  operatorId: names.id('operator', permit.operator, operatorTerm),
  formationId:
    permit.formation === null ? null : names.id('formation', permit.formation, formationTerm),
  permitTypeId: names.id('permit_type', permit.permitType, wordTerm),
  wellTypeId: names.id('well_type', permit.wellType, wordTerm),
  wellNameId: names.wellNameId(permit.wellName),
})

const millionths = (degrees: number) => Math.round(degrees * 1e6)
export const dayNumberOf = (day: string): number => parseDay(day)! / dayMs

type Corner = readonly [south: number, west: number, day: number]

/** Where and when a permit is found by place; undefined without a place. */
const cornerOf = ({
  permitOn,
  latitude,
  longitude,
}: Pick<WellPermit, 'permitOn' | 'latitude' | 'longitude'>): Corner | undefined =>
  latitude === null || longitude === null
    ? undefined
    : [millionths(latitude), millionths(longitude), dayNumberOf(permitOn)]

export function createWellPermitStore(db: Database) {
  const write = permitWriter(db)
  const read = (from: string, order: string) => `
    SELECT p.id, f.permit_on AS permitOn, p.state_code AS state, county.label AS county, operator.label AS operatorName,
      operator.name AS operatorKey, formation.label AS formationName, formation.name AS formationKey,
      permit_type.name AS permitType, well_type.name AS wellType, well.name AS wellName,
      ${selected(paperColumns, 'p')}, p.recorded_at AS recordedAt
    FROM ${from} JOIN well_permits f ON f.id = p.id
      JOIN permit_terms operator ON operator.id = f.operator_id
      JOIN permit_terms permit_type ON permit_type.id = f.permit_type_id
      JOIN permit_terms well_type ON well_type.id = f.well_type_id
      JOIN permit_well_names well ON well.id = f.well_name_id
      LEFT JOIN permit_terms county ON county.id = f.county_id
      LEFT JOIN permit_terms formation ON formation.id = f.formation_id
    ORDER BY ${order}`
  const listed = lazy<StoredPermit, [string]>(
    db,
    read('json_each(?) asked CROSS JOIN well_permit_papers p ON p.id = asked.value', 'asked.key'),
  )
  const ofWell = lazy<StoredPermit, [string]>(
    db,
    read(
      '(SELECT * FROM well_permit_papers WHERE api_number = ? AND api_number IS NOT NULL) p',
      'f.permit_on, p.id',
    ),
  )
  const readAt = lazy<{ readAt: number }, [string]>(
    db,
    'SELECT read_at AS readAt FROM permit_reads WHERE state_code = ?',
  )
  return {
    /**
     * One transaction. The same permit again is unchanged, whenever it was fetched; anything else
     * under a known reference replaces it.
     */
    write: (permits: readonly WellPermit[], recordedAt: number) =>
      transact(db, () => write(permits, recordedAt)),
    /** In the order of the ids. */
    rows: (ids: readonly number[]) => listed.all(JSON.stringify(ids)),
    /** The permits of one well, oldest first. */
    ofWell: (apiNumber: string) => ofWell.all(apiNumber),
    /** When the list of a state was last read. */
    readAt: (state: string) => readAt.get(state)?.readAt,
  }
}

const marksFor = (names: readonly string[]) => names.map(() => '?').join(', ')
const asGiven = (names: readonly string[]) =>
  names.map(name => `${name} = excluded.${name}`).join(', ')

/** The three tables of a permit: its facts, the fields that responses show, and its place. */
function permitTables(db: Database) {
  const sql = statements(db)
  const factNames = factFields.map(field => factColumns[field])
  const paperNames = [...paperFields.map(field => paperColumns[field]), 'recorded_at']
  // Asked for every permit of an import, nearly all of them new: a wide row costs twenty times as
  // much, even where there is none.
  const idOf = sql<{ id: number }, [string, string]>`
    SELECT id FROM well_permit_papers WHERE state_code = ? AND reference = ?`
  const byId = sql<StoredFacts, [number]>`
    SELECT f.id, ${selected(factColumns, 'f')}, ${selected(shownColumns, 'p')}
    FROM well_permit_papers p JOIN well_permits f ON f.id = p.id WHERE p.id = ?`
  const addFacts = manyRows(
    db,
    `INSERT INTO well_permits (${factNames.join(', ')})`,
    `(${marksFor(factNames)})`,
  )
  // Updates existing rows. An UPDATE of a table with triggers would first collect its rows in a
  // temporary table, which costs more than everything else.
  const setFacts = sql`
    INSERT INTO well_permits (id, ${factNames.join(', ')}) VALUES (?, ${marksFor(factNames)})
    ON CONFLICT (id) DO UPDATE SET ${asGiven(factNames)}`
  const addPapers = manyRows(
    db,
    `INSERT INTO well_permit_papers (id, state_code, reference, ${paperNames.join(', ')})`,
    `(?, ?, ?, ${marksFor(paperNames)})`,
  )
  const setPapers = sql`
    INSERT INTO well_permit_papers (id, state_code, reference, ${paperNames.join(', ')})
    VALUES (?, ?, ?, ${marksFor(paperNames)})
    ON CONFLICT (id) DO UPDATE SET ${asGiven(paperNames)}`
  const addPlaces = manyRows(db, 'INSERT INTO well_permit_places', '(?, ?, ?, ?, ?, ?, ?)')
  const dropPlace = sql`DELETE FROM well_permit_places WHERE id = ?`
  const factValues = (facts: PermitFacts) => factFields.map(field => facts[field])
  const paperValues = (permit: WellPermit) => paperFields.map(field => permit[field])
  const placeOf = (id: number, [south, west, day]: Corner) => [
    id,
    south,
    south,
    west,
    west,
    day,
    day,
  ]

  return {
    stored(state: string, reference: string): StoredFacts | undefined {
      const permit = idOf.get(state, reference)
      return permit ? byId.get(permit.id) : undefined
    },
    /** Returns the id of the first; the others have the numbers after it. */
    insert(permits: readonly WrittenPermit[], recordedAt: number): number {
      const { lastId } = addFacts(permits.map(({ facts }) => factValues(facts)))
      const firstId = lastId - permits.length + 1
      addPapers(
        permits.map(({ permit, reference }, i) => [
          firstId + i,
          permit.state,
          reference,
          ...paperValues(permit),
          recordedAt,
        ]),
      )
      addPlaces(
        permits.flatMap(({ permit }, i) => {
          const corner = cornerOf(permit)
          return corner ? [placeOf(firstId + i, corner)] : []
        }),
      )
      return firstId
    },
    update(
      old: StoredFacts,
      { permit, reference, facts }: WrittenPermit,
      recordedAt: number,
    ): void {
      if (!hasFacts(old, facts)) setFacts.run(old.id, ...factValues(facts))
      setPapers.run(old.id, permit.state, reference, ...paperValues(permit), recordedAt)
      const [before, after] = [cornerOf(old), cornerOf(permit)]
      if (before?.join() === after?.join()) return
      if (before) dropPlace.run(old.id)
      if (after) addPlaces([placeOf(old.id, after)])
    },
  }
}

const hasFacts = (old: StoredFacts, facts: PermitFacts): boolean =>
  factFields.every(field => old[field] === facts[field])

/** New permits that are written with one statement for each table. */
const waitingMax = 100

function permitWriter(db: Database) {
  const tables = permitTables(db)
  const putRead = lazy(
    db,
    'INSERT INTO permit_reads VALUES (?, ?) ON CONFLICT DO UPDATE SET read_at = max(read_at, excluded.read_at)',
  )
  return (permits: readonly WellPermit[], recordedAt: number): PermitWrites => {
    const [names, periods] = [createPermitNames(db), createPermitPeriods(db)]
    const writes: PermitWrites = {
      counts: { inserted: 0, revised: 0, unchanged: 0 },
      inserted: [],
      statusChanges: [],
    }
    /** Permits that are new; each is counted, and is written once others are with it. */
    const waiting = new Map<string, WrittenPermit>()
    const writeWaiting = () => {
      const permits = [...waiting.values()]
      waiting.clear()
      if (permits.length === 0) return
      const firstId = tables.insert(permits, recordedAt)
      for (const [i, { permit }] of permits.entries())
        writes.inserted.push({
          id: firstId + i,
          state: permit.state,
          permitOn: permit.permitOn,
        })
    }
    const writePermit = (permit: WellPermit): keyof WriteCounts => {
      const { state, permitOn, permitNumber, apiNumber, apiNumberRaw } = permit
      const reference = permitReference(permitNumber, apiNumber ?? apiNumberRaw, permitOn)
      const key = `${state}/${reference}`
      if (waiting.has(key)) writeWaiting()
      const facts = factsOf(permit, names)
      const old = tables.stored(state, reference)
      if (!old) {
        waiting.set(key, { permit, reference, facts })
        if (waiting.size === waitingMax) writeWaiting()
        periods.add(facts, 1)
        return 'inserted'
      }
      const isSame =
        hasFacts(old, facts) && shownFields.every(field => old[field] === permit[field])
      if (isSame) return 'unchanged'
      tables.update(old, { permit, reference, facts }, recordedAt)
      periods.add(old, -1)
      periods.add(facts, 1)
      if (old.permitStatus !== permit.permitStatus)
        writes.statusChanges.push({ id: old.id, from: old.permitStatus, to: permit.permitStatus })
      return 'revised'
    }
    const reads = new Map<string, number>()
    // Ids are numbered in the order of the days, as far as permits come in that order.
    for (const permit of permits.toSorted((a, b) =>
      a.permitOn < b.permitOn ? -1 : a.permitOn > b.permitOn ? 1 : 0,
    )) {
      writes.counts[writePermit(permit)] += 1
      const { state, fetchedAt } = permit
      reads.set(state, Math.max(reads.get(state) ?? fetchedAt, fetchedAt))
    }
    writeWaiting()
    periods.write()
    for (const [state, at] of reads) putRead.run(state, at)
    return writes
  }
}
