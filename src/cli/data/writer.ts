import type { WriteCounts } from '../../database/write-counts.ts'
import type { ReadFile } from '../../feeds/files/import.ts'
import { processUser } from '../../lib/files/file-faults.ts'
import { minuteOf } from '../../lib/time/zone.ts'
import {
  type CodeLookup,
  codeLookupOf,
  everyCode,
  type SeriesIdentity,
} from '../../topics/catalogue/math/lookup.ts'
import type { Candidate } from '../../topics/catalogue/math/suggest.ts'
import { type DeliveryRow, deliveryTerms, settingsOf } from '../../topics/delivery/math/terms.ts'
import { parseContractCode } from '../../topics/futures/math/families.ts'
import type { ComparisonShape as WireComparison } from '../../topics/operator/operations/data/comparison-row.ts'
import type { SeriesRow as ListedSeries } from '../../topics/operator/operations/data/series.ts'
import { type BlockEnvelope, encodePoints } from '../../topics/prices/files/point-block.ts'
import type { Comparison } from '../../topics/prices/service/checks/comparison.ts'
import type { Point } from '../../topics/prices/store/observations.ts'
import { refusalOf } from '../command.ts'
import type { Operator } from '../operator.ts'
import type { ImportEnvironment } from './import.ts'

/** Points of one transaction when this process writes itself: large, because no one else waits. */
const ownBatchMax = 20_000
const fileNameMax = 300
/** Points of one request to a server, which writes them in parts, with other requests between. */
const sentBatchMax = 10_000

const isOfDelivery = (listed: ListedSeries): listed is ListedSeries & DeliveryRow =>
  listed.time === 'delivery'

/** Converts a series of the server's list to the form that row checks take. */
const identityOf = (listed: ListedSeries): SeriesIdentity & Candidate => ({
  id: listed.id,
  code: listed.code,
  name: listed.name,
  category: listed.category,
  currency: listed.currency,
  unit: listed.unit,
  level: listed.level,
  aliases: listed.aliases,
  bounds: { min: listed.min, max: listed.max },
  terms: { active: listed.active || !listed.changed.includes('active') },
  ...(listed.value_time !== null && {
    valueAt: { zone: listed.time_zone ?? 'UTC', minute: minuteOf(listed.value_time)! },
  }),
  ...(isOfDelivery(listed) && { delivery: deliveryTerms(settingsOf(listed)) }),
})

/** The settings under which an import is recorded. */
export interface Recording {
  /** The source of values without one. */
  source?: string | undefined
  /** The values are stored as another instance recorded them: none is flagged. */
  asRecorded?: boolean
  /** Overrides earlier decisions of operators. */
  replace?: boolean
}

/**
 * Provides the catalogue for checking rows and a writer for points: of the open database, or of the
 * running server.
 */
export async function dataOf(
  operator: Operator,
  { source: named, asRecorded = false, replace = false }: Recording = {},
): Promise<Pick<ImportEnvironment, 'catalogue' | 'writer'>> {
  const { instance } = operator
  let source = named
  const attribute = (publisher: string | undefined) => {
    source = asRecorded ? named : (named ?? publisher)
  }
  if (instance) {
    const { audit, catalogue, batches, compare } = instance.services
    let batch: ReturnType<typeof batches.begin> | undefined
    return {
      catalogue: asRecorded ? everyCode(catalogue) : codeLookupOf(catalogue.list()),
      writer: {
        batchMax: ownBatchMax,
        attribute,
        compare: points => compare(points, { ...(source && { source }), replace }),
        hasData: catalogue.list().some(series => catalogue.extent(series)),
        begin({ name: fileName, sha256 }) {
          const actor = `command ${processUser()}`
          batch = batches.begin({
            kind: 'file',
            actor,
            fileName,
            sha256,
            ...(source && { source }),
            asRecorded,
            replace,
          })
        },
        write: points => batch!.write(points),
        end(left) {
          batch!.count(left)
          batch!.end()
          audit.note({
            actor: `command ${processUser()}`,
            action: 'import',
            thing: `batch ${batch!.id}`,
            place: 'this machine',
            outcome: 'done',
          })
        },
      },
    }
  }
  const series = (await dataOfAnswer(operator, 'GET', '/admin/v1/series')) as ListedSeries[]
  let batch = 0
  const byId = new Map(series.map(listed => [listed.id, listed.code]))
  const listed = codeLookupOf(series.map(identityOf))
  const blockOf = (points: readonly Point[], envelope: BlockEnvelope) =>
    encodePoints(points, id => byId.get(id)!, envelope)
  return {
    catalogue: asRecorded ? withContracts(listed, byId) : listed,
    writer: {
      batchMax: sentBatchMax,
      attribute,
      hasData: series.some(listed => listed.has_data),
      async compare(points) {
        const block = blockOf(points, { source, replace })
        const path = '/admin/v1/observations/compare'
        return comparisonOf((await dataOfAnswer(operator, 'POST', path, block)) as WireComparison)
      },
      async begin(file) {
        batch = await beginBatch(operator, file, { source, asRecorded, replace })
      },
      end: left => endBatch(operator, batch, left),
      async write(points) {
        const block = blockOf(points, { batch })
        const counts = (await dataOfAnswer(
          operator,
          'POST',
          '/admin/v1/observations',
          block,
        )) as WriteCounts & { kept_as_corrected: number; recorded_at: string }
        return {
          ...counts,
          kept: counts.kept_as_corrected,
          recordedAt: Date.parse(counts.recorded_at),
        }
      },
    },
  }
}

/**
 * Adds the contracts of futures, which the list of series omits: values that another instance
 * exported name contracts by their codes.
 */
function withContracts(listed: CodeLookup, codeById: Map<number, string>): CodeLookup {
  const contracts = new Map<string, SeriesIdentity>()
  return {
    nearest: listed.nearest,
    find(code) {
      const series = listed.find(code) ?? contracts.get(code)
      const contract = series ? undefined : parseContractCode(code)
      const family = contract && listed.find(contract.family.code)
      if (!family) return series
      // The negative id only identifies the contract here; requests send its code.
      const identity = { ...family, id: -1 - contracts.size, code }
      contracts.set(code, identity)
      codeById.set(identity.id, code)
      return identity
    },
  }
}

const comparisonOf = (wire: WireComparison): Comparison => ({
  inserted: wire.inserted,
  revised: wire.revised,
  unchanged: wire.unchanged,
  held: wire.held,
  kept: wire.kept_as_corrected,
  biggest: wire.biggest_changes.map(({ observed_at: at, is_new: isNew, ...change }) => ({
    ...change,
    ...(isNew && { isNew }),
    observedAt: Date.parse(at),
  })),
  series: wire.series.map(series => ({
    code: series.code,
    points: series.points,
    revised: series.revised,
    reverted: series.reverted,
    firstAt: Date.parse(series.from),
    lastAt: Date.parse(series.to),
    recordedBetween: series.recorded_between,
    recorded: series.recorded,
  })),
})

/**
 * Starts a batch for a file that is sent in several requests; returns the number that they name.
 */
export async function beginBatch(
  operator: Operator,
  { name, sha256 }: ReadFile,
  of: Recording & { dataset?: string },
): Promise<number> {
  const fileName = name.slice(-fileNameMax)
  const body = {
    file_name: fileName,
    sha256,
    source: of.source,
    dataset: of.dataset,
    ...(of.asRecorded && { as_recorded: true }),
    ...(of.replace && { replace: true }),
  }
  const { batch } = (await dataOfAnswer(operator, 'POST', '/admin/v1/batches', body)) as {
    batch: { id: number }
  }
  return batch.id
}

export async function endBatch(
  operator: Operator,
  id: number,
  left: { superseded: number; rejected: number },
): Promise<void> {
  await dataOfAnswer(operator, 'POST', `/admin/v1/batches/${id}/end`, left)
}

/** The `data` of a success; anything else is an Error with the answer's own message. */
export async function dataOfAnswer(
  operator: Operator,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await operator.call(method, path, body)
  if (answer.status >= 200 && answer.status < 300) return answer.body?.data
  throw new Error(refusalOf(answer).lines[0])
}
