import type { WriteCounts } from '../../database/write-counts.ts'
import { mappingOf } from '../../feeds/files/mapping.ts'
import { importDataset, type RowWriter } from '../../feeds/files/row-import.ts'
import type { Layout, Row } from '../../feeds/files/row-parser.ts'
import { unknownName } from '../../lib/text/wrong-value.ts'
import { priceFields } from '../../topics/prices/files/columns.ts'
import { refusalOf } from '../command.ts'
import type { Operator } from '../operator.ts'
import {
  conclude,
  type FileOptions,
  giveUp,
  type ImportReporting,
  meterFor,
  openerOf,
} from './import.ts'
import { beginBatch, dataOfAnswer, endBatch } from './writer.ts'

export interface DatasetOptions extends FileOptions {
  dataset: string
  /** The rows are stored as another instance recorded them: none is flagged. */
  asRecorded?: boolean
  /** Records rows that an undo removed before as well. */
  replace?: boolean
}

export interface DatasetEnvironment extends ImportReporting {
  stdin: AsyncIterable<Uint8Array>
  operator: Operator
}

/**
 * Returns the exit code: 0 if everything was imported, 2 if all but held or rejected rows were, 1
 * if the import was refused or interrupted.
 */
export async function runDatasetImport(
  files: readonly string[],
  options: DatasetOptions,
  env: DatasetEnvironment,
): Promise<number> {
  const began = env.clock.monotonic()
  const meter = await meterFor(env)
  let written = 0
  try {
    const layouts = (await dataOfAnswer(env.operator, 'GET', '/admin/v1/datasets')) as (Layout & {
      batch_max: number
    })[]
    const layout = layouts.find(layout => layout.name === options.dataset.toLowerCase())
    if (!layout)
      throw new Error(
        unknownName(
          'dataset',
          options.dataset,
          layouts.map(layout => layout.name),
        ),
      )
    const { asRecorded = false, replace = false } = options
    const writer = writerTo(env.operator, layout, { asRecorded, replace }, rows => {
      written += rows
    })
    const report = await importDataset({
      files,
      layout,
      writer,
      stdin: env.stdin,
      dryRun: options.dryRun === true,
      mapping: mappingOf(options.map ?? [], priceFields),
      open: openerOf(options, true),
      spelling: options,
      progress: meter.show,
    })
    meter.stop()
    return conclude(report, env.clock.monotonic() - began, options, env)
  } catch (error) {
    meter.stop()
    return giveUp(error as Error, { count: written, what: 'rows' }, options, env)
  }
}

/**
 * Writes through the API of the operator, of a running server or of this process: both judge rows
 * alike.
 */
function writerTo(
  operator: Operator,
  { name, batch_max: batchMax }: { name: string; batch_max: number },
  recording: { asRecorded: boolean; replace: boolean },
  wrote: (rows: number) => void,
): RowWriter {
  let batch: number | undefined
  return {
    batchMax,
    async begin(file) {
      batch = await beginBatch(operator, file, { dataset: name, ...recording })
    },
    end: left => endBatch(operator, batch!, left),
    async write(rows: readonly Row[], dryRun) {
      const { status, body } = await operator.call('POST', `/admin/v1/datasets/${name}`, {
        rows,
        dry_run: dryRun,
        batch,
      })
      if (status === 200) {
        if (!dryRun) wrote(rows.length)
        const { data } = body as {
          data: WriteCounts & { recorded_at: string; kept_as_corrected: number }
        }
        return {
          counts: {
            ...data,
            kept: data.kept_as_corrected,
            recordedAt: Date.parse(data.recorded_at),
          },
        }
      }
      const { errors = [] }: { errors?: { field: string; message: string }[] } = body ?? {}
      const faults = errors.flatMap(({ field, message: reason }) => {
        const [, row] = /^rows\.(\d+)\./.exec(field) ?? []
        return row === undefined ? [] : [{ row: Number(row), reason }]
      })
      if (status === 422 && faults.length > 0) return { faults }
      throw new Error(refusalOf({ status, body }).lines[0])
    },
  }
}
