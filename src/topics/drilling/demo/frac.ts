import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { hourMs, isoDay, startOfWeek } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { keyOf, uniform } from '../../prices/demo/noise.ts'
import type { Progress } from '../../prices/demo/progress.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { FracChemical } from '../store/frac-chemicals.ts'
import type { FracDisclosure } from '../store/frac-disclosures.ts'
import type { Well } from '../store/wells.ts'
import { sampleWell } from './permit-rows.ts'

export interface FracTarget {
  write(disclosures: readonly FracDisclosure[], recordedAt: number): unknown
  idOf(reference: string): number | undefined
}

/**
 * Of the wells that are followed this share is disclosed, and of those this share with what was in
 * the fluid.
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

interface FracFillerDeps {
  seed: number
  db: Database
  wells: { search(filter: Record<string, never>): Well[] }
  disclosures: FracTarget
  chemicals: { write(chemicals: readonly FracChemical[], recordedAt: number): unknown }
  /** Whether the wells are there. */
  isReady(): boolean
  settings: Progress
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

/** The day of completion up to which everything has come out. */
const progressName = 'fixture.frac_to'

/**
 * What was pumped into part of the wells that are followed, and into the one that documentation and
 * tests name. Lists come out on Mondays.
 */
export function createFracFiller(deps: FracFillerDeps): Required<Filler> {
  const { isReady, settings, clock, stopwatch = createSystemClock() } = deps
  const progressOf = () => settings.get(progressName) ?? ''

  /** What is left of a list that is being written, and what it ends with. */
  let list: { due: Well[]; upTo: string; progress: string } | undefined
  const openList = (now: number) => {
    const [upTo, progress] = [lastListed(now), progressOf()]
    // The copy may have been put back to an earlier state since.
    if (list?.upTo === upTo && list.progress === progress) return list
    list = { due: publishedBetween(deps, progress, upTo), upTo, progress }
    return list
  }

  /** What is on the lists up to now, in transactions of a few; false where nothing is left. */
  const publish = (now: number, until: number): boolean => {
    if (!isReady() || progressOf() >= lastListed(now)) return false
    const open = openList(now)
    do {
      const slice = open.due.splice(0, sliceRows)
      // A day is written whole, because the progress is kept as a day.
      while (open.due.length > 0 && open.due[0]!.completedOn === slice.at(-1)!.completedOn)
        slice.push(open.due.shift()!)
      open.progress = open.due.length > 0 ? slice.at(-1)!.completedOn! : open.upTo
      writeDisclosures(deps, slice, now, open.progress)
    } while (open.due.length > 0 && stopwatch.monotonic() < until)
    return open.due.length > 0
  }
  return {
    step: budgetMs => publish(clock.now(), stopwatch.monotonic() + budgetMs),
    advance: now => publish(now, Number.POSITIVE_INFINITY),
  }
}

/** By the day of completion, then by number. */
function byCompletion(a: Well, b: Well): number {
  if (a.completedOn !== b.completedOn) return a.completedOn! < b.completedOn! ? -1 : 1
  return a.apiNumber < b.apiNumber ? -1 : 1
}

/** Wells completed in `(after, upTo]` whose jobs are disclosed, the oldest first. */
const publishedBetween = ({ seed, wells }: FracFillerDeps, after: string, upTo: string): Well[] =>
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
  { seed, db, disclosures, chemicals, settings }: FracFillerDeps,
  wells: readonly Well[],
  at: number,
  progress: string,
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
    settings.set(progressName, progress)
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
