import type { Command } from 'commander'
import { wrongValue } from '../../lib/text/wrong-value.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import { scaleRight } from '../../topics/prices/files/parser.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { configOf, located, type Options, type Results, withOperator } from '../options.ts'
import { exportOverHttp, isRemoteExport, type RemoteExportOptions } from '../remote/commands.ts'
import { isArchive, readArchive, writeArchive } from './archive.ts'
import { runDatasetImport } from './dataset.ts'
import { runExport } from './export.ts'
import { type ImportOptions, runImport } from './import.ts'
import { exportSource, openArchiveSource } from './pages.ts'
import { dataOf } from './writer.ts'

type ExportOptions = Options &
  RemoteExportOptions & {
    format?: string
    source?: string
    history?: boolean
    everything?: boolean
  }

/** Commands that import and export values. */
export function dataCommands(program: Command, env: ProgramEnvironment, results: Results) {
  importCommand(program, env, results)
  exportCommand(program, env, results)
}

function importCommand(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('import')
      .argument(
        '<files...>',
        'CSV, NDJSON, JSON, .xlsx or Parquet, plain, gzip or ZIP; - is standard input',
      )
      .description('import prices from files, or with --dataset the rows of another dataset'),
    command => (command.opts<{ create?: boolean }>().create ? 'made' : 'needed'),
  )
    .option('--create', 'create the data directory if it does not exist')
    .option(
      '--dataset <name>',
      'dataset in the files: futures-settlements, futures-ticks, ... (default: prices)',
    )
    .option('--series <code>', 'every row belongs to this code')
    .option(
      '--map <pairs>',
      'map columns: code=Col,observed_at=Col,price=Col, or CODE=Col for a column of one code; repeatable',
      (pairs: string, before: readonly string[] = []) => [...before, pairs],
    )
    .option(
      '--scale <factor>',
      'multiply every value: 0.001 for a file in thousands of the unit of its series',
      factor => {
        if (Number(factor) > 0) return factor
        throw new Error(wrongValue('--scale', scaleRight, factor))
      },
    )
    .option('--sheet <name>', 'sheet of a workbook (default: the first)')
    .option('--header-row <number>', 'number of the header row (default: 1)')
    .option('--records <path>', 'path of the rows in a JSON document: response.data')
    .option(
      '--date-format <format>',
      'date format: DD/MM/YYYY, D MMM YYYY, YYYYMMDD, serial for day numbers',
    )
    .option('--decimal-comma', 'numbers are formatted as 1.234,56')
    .option('--time <time>', 'time of day for values that have only a date: 16:00')
    .option('--zone <zone>', 'time zone of --time and of times without a zone: America/New_York')
    .option('--source <name>', 'source of the values: EIA, Desk, ...')
    .option(
      '--replace',
      'import even if a coarser file replaces a finer one, many values are revised, or you corrected, deleted or undid them',
    )
    .option('--dry-run', 'validate everything without writing')
    .option('--json', 'print the result as JSON')
    .action((files: string[], options: Options & ImportOptions & { dataset?: string }) =>
      withOperator(options, env, async operator => {
        env.yieldTurn?.()
        const { out, err, terminal, stdin } = env
        const { dataset } = options
        const directory = files.find(isArchive)
        if (directory !== undefined) {
          if (files.length > 1 || dataset !== undefined)
            throw new Error(`${directory} is an export of everything: import it on its own`)
          const reporting = { out, err, terminal, stdin, clock: createSystemClock(), operator }
          results.set(await readArchive(directory, options, reporting))
          return
        }
        if (dataset !== undefined) {
          for (const name of ['series', 'scale', 'time', 'source'] as const) {
            if (options[name] !== undefined)
              throw new Error(`--${name} is for prices: leave it out with --dataset`)
          }
          results.set(
            await runDatasetImport(
              files,
              { ...options, dataset },
              { out, err, terminal, stdin, clock: createSystemClock(), operator },
            ),
          )
          return
        }
        results.set(
          await runImport(files, options, {
            out,
            err,
            terminal,
            stdin,
            clock: createSystemClock(),
            ...(await dataOf(operator, {
              source: options.source,
              replace: options.replace === true,
            })),
          }),
        )
      }),
    )
}

function exportCommand(program: Command, env: ProgramEnvironment, results: Results) {
  located(
    program
      .command('export')
      .argument('[codes...]', 'codes to export (default: all)')
      .description('export prices in the format that import reads'),
    command => (isRemoteExport(command.opts()) ? 'named' : 'needed'),
  )
    .option(
      '-o, --output <file>',
      'file to write; a name in .gz compresses it; -: standard output',
      '-',
    )
    .option('--format <format>', 'csv or ndjson (default: by the name of the file)')
    .option('--source <name>', 'only values from this source: EIA, a feed, ...')
    .option('--history', 'include sources, recording times, and replaced and deleted values')
    .option(
      '--everything',
      'export series, all datasets and prices into the directory --output, which import accepts',
    )
    .option('--server <name>', 'export a price history as CSV from a saved server')
    .option('--url <address>', 'export from the server at this URL')
    .option('--key <key>', 'API key for --url')
    .option('--start <date>', 'over HTTP: first day (default: 30 days ago)')
    .option('--end <date>', 'over HTTP: last day (default: now)')
    .option('--interval <interval>', 'over HTTP: raw, hour, day, week or month (default: raw)')
    .action(async (codes: string[], options: ExportOptions) => {
      if (isRemoteExport(options)) {
        await exportOverHttp(codes, options, env)
        return
      }
      env.yieldTurn?.()
      if (options.everything) {
        results.set(await exportEverything(codes, options, env))
        return
      }
      const source = exportSource(configOf(options, 'serve', env).data.dir, options.source)
      try {
        results.set(await runExport(codes, options, { out: env.write, err: env.err, ...source }))
      } finally {
        source.close()
      }
    })
}

async function exportEverything(
  codes: readonly string[],
  options: ExportOptions,
  env: ProgramEnvironment,
): Promise<number> {
  const { output, format, source: name, history = false } = options
  if (output === undefined || output === '-')
    throw new Error('--everything writes a directory: name it with --output')
  if (codes.length > 0 || format !== undefined || name !== undefined)
    throw new Error(
      '--everything exports all codes in fixed formats: omit codes, --format and --source',
    )
  const source = openArchiveSource(configOf(options, 'serve', env).data.dir)
  try {
    const now = createSystemClock().now()
    await writeArchive(output, source, { history, now, err: env.err })
  } finally {
    source.close()
  }
  return 0
}
