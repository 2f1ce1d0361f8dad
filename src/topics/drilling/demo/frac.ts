import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { DemoData } from '../../../demo/demo-data.ts'
import { hourMs, isoDay, startOfWeek } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { keyOf, uniform } from '../../prices/demo/noise.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { FracChemical, FracDisclosure } from '../dataset/frac.ts'
import type { Well } from '../dataset/wells.ts'
import type { createFracChemicalStore } from '../store/frac-chemicals.ts'
import type { FracDisclosureStore } from '../store/frac-disclosures.ts'
import type { WellStore } from '../store/wells.ts'
import { sampleWell } from './permit-rows.ts'

/**
 * The share of the wells with a lifecycle that are disclosed, and the share of those with the
 * contents of the fluid.
 */
const disclosedShare = 0.35
const itemizedShare = 0.6
/** Days from the completion of a well to the Monday on whose list its job may be. */
const publishedAfterDays = 30
const listHour = 14
/** Disclosures that are written in one transaction. */
const sliceRows = 200
const poundsPerGallon = 8.345

/** Percent of the whole fluid: the least, and how much more it may be. */
const fluids: readonly (readonly [
  name: string,
  cas: string | null,
  purpose: string,
  least: number,
  more: number,
])[] = [
  ['Hydrochloric acid', '7647-01-0', 'Acid', 0.05, 0.3],
  ['Polyacrylamide', '9003-05-8', 'Friction reducer', 0.02, 0.06],
  ['Petroleum distillates, hydrotreated light', '64742-47-8', 'Friction reducer', 0.01, 0.04],
  ['Glutaraldehyde', '111-30-8', 'Biocide', 0.004, 0.02],
  ['Ethylene glycol', '107-21-1', 'Scale inhibitor', 0.002, 0.01],
  ['Methanol', '67-56-1', 'Corrosion inhibitor', 0.001, 0.008],
  ['Proprietary surfactant', null, 'Surfactant', 0.01, 0.05],
  ['Guar gum', '9000-30-0', 'Gelling agent', 0.02, 0.2],
]

interface FracDataDeps {
  seed: number
  db: Database
  /** The wells, which are written before. */
  wells: Pick<WellStore, 'search'>
  disclosures: Pick<FracDisclosureStore, 'write' | 'idOf'>
  chemicals: Pick<ReturnType<typeof createFracChemicalStore>, 'write'>
}

/**
 * Disclosures for some of the wells with a lifecycle, and for the one that documentation and tests
 * name. Lists are published on Mondays.
 */
export function createFracData(deps: FracDataDeps): DemoData {
  function* writing(after: string, upTo: string, now: number): Generator<number> {
    const due = publishedBetween(deps, after, upTo)
    for (let i = 0; i < due.length; i += sliceRows) {
      writeDisclosures(deps, due.slice(i, i + sliceRows), now)
      yield Math.min(1, (i + sliceRows) / due.length)
    }
  }
  return {
    percent: 1,
    generate: now => writing('', lastListed(now), now),
    publish(from, to) {
      const [after, upTo] = [lastListed(from), lastListed(to)]
      return after === upTo ? 0 : [...writing(after, upTo, to)].length
    },
  }
}

/** By the day of completion, then by number. */
function byCompletion(a: Well, b: Well): number {
  if (a.completedOn !== b.completedOn) return a.completedOn! < b.completedOn! ? -1 : 1
  return a.apiNumber < b.apiNumber ? -1 : 1
}

/** Wells completed in `(after, upTo]` whose jobs are disclosed, the oldest first. */
const publishedBetween = ({ seed, wells }: FracDataDeps, after: string, upTo: string): Well[] =>
  wells
    .search({})
    .filter(
      ({ source, completedOn }) =>
        source === generatedSource &&
        completedOn !== null &&
        completedOn > after &&
        completedOn <= upTo,
    )
    .filter(
      ({ apiNumber }) =>
        apiNumber === sampleWell.apiNumber ||
        uniform(keyOf(`${seed}/frac/${apiNumber}`), 0) < disclosedShare,
    )
    .sort(byCompletion)

const writeDisclosures = (
  { seed, db, disclosures, chemicals }: FracDataDeps,
  wells: readonly Well[],
  at: number,
) =>
  transact(db, () => {
    disclosures.write(
      wells.map(well => disclosureOf(seed, well)),
      at,
    )
    chemicals.write(
      wells.flatMap(well => chemicalsOf(seed, well, disclosures.idOf(referenceOf(well))!)),
      at,
    )
  })

/** The newest day of completion that the last Monday's list has. */
function lastListed(now: number): string {
  const monday = startOfWeek(now - listHour * hourMs)
  return dayAfter(isoDay(monday), -publishedAfterDays)
}

const referenceOf = (well: Well) => `fixture-${well.apiNumber}`

function disclosureOf(seed: number, well: Well): FracDisclosure {
  const key = keyOf(`${seed}/frac/${well.apiNumber}`)
  const endedOn = dayAfter(well.completedOn!, -3 - Math.floor(8 * uniform(key, 1)))
  return {
    reference: referenceOf(well),
    apiNumber: well.apiNumber,
    state: well.state,
    county: well.county!,
    operator: well.operator,
    wellName: well.name,
    startedOn: dayAfter(endedOn, -6 - Math.floor(14 * uniform(key, 2))),
    endedOn,
    latitude: well.latitude,
    longitude: well.longitude,
    waterGallons: Math.round((4e6 + 18e6 * uniform(key, 3)) / 1000) * 1000,
    nonWaterGallons: uniform(key, 4) < 0.1 ? Math.round(4e5 * uniform(key, 5)) : 0,
    source: generatedSource,
  }
}

function chemicalsOf(seed: number, well: Well, disclosureId: number): FracChemical[] {
  const key = keyOf(`${seed}/frac/${well.apiNumber}`)
  if (well.apiNumber !== sampleWell.apiNumber && uniform(key, 6) >= itemizedShare) return []
  const { waterGallons } = disclosureOf(seed, well)
  const small = fluids
    .filter((_, i) => uniform(key, 10 + i) < 0.7)
    .map(([name, casNumber, purpose, least, more], i) => ({
      name,
      casNumber,
      purpose,
      percent: least + more * uniform(key, 30 + i),
    }))
  const sand = 8 + 6 * uniform(key, 7)
  const water = 100 - sand - small.reduce((sum, substance) => sum + substance.percent, 0)
  const wholeLbs = (waterGallons! * poundsPerGallon * 100) / water
  return [
    { name: 'Water', casNumber: '7732-18-5', purpose: 'Carrier', percent: water },
    {
      name: 'Crystalline silica (sand)',
      casNumber: '14808-60-7',
      purpose: 'Proppant',
      percent: sand,
    },
    ...small,
  ].map(({ percent, ...substance }) => ({
    disclosureId,
    ...substance,
    source: generatedSource,
    concentrationPercent: Math.round(percent * 1e5) / 1e5,
    massLbs: Math.round((wholeLbs * percent) / 100),
  }))
}
