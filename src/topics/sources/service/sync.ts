import type { Runtime } from '../../../config/runtime.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { hasFeature } from '../../../plans/plans.ts'
import {
  authHeaders,
  contentBytesMax,
  pushSecret,
  pushSecretCharactersMin,
  type SourceLayout,
  syncedTypes,
  withoutCredentials,
} from '../../../plans/source-config.ts'
import type { SourceFetch } from '../../../send/sources/fetch.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { SourceFiles } from './file.ts'
import {
  type DataSource,
  type DataSources,
  isSynced,
  type SourceRow,
  type SourceSyncLog,
} from './sources.ts'

export interface RowReader {
  /**
   * Finds the rows in what a source holds; a sentence where there are none to be found. `mask` takes
   * out of the text what must go no further.
   */
  read(
    bytes: Uint8Array,
    layout: SourceLayout,
    mask: (text: string) => string,
    now: number,
  ): Promise<SourceContent | { fault: string }>
}

/** The content of a source, validated row by row. */
export interface SourceContent {
  rows: SourceRow[]
  received: number
  rejected: number
  /** The first sentences about rows that were not taken. */
  rejections: string[]
}

export interface SourceTest {
  durationMs: number
  /** Rows that would be imported. */
  content: SourceContent | undefined
  error: string | null
}

export type SourceSync = ReturnType<typeof createSourceSync>

export interface SourceSyncDeps extends Pick<Runtime, 'clock' | 'log'> {
  sources: DataSources
  reader: RowReader
  fetch: SourceFetch
  files: SourceFiles
  keys: Pick<Keyring, 'account' | 'entitlements'>
  timeoutMs: number
}

/** A test closes its connection when no data comes for longer than this. */
const testMs = 8 * secondMs

const notEntitled = 'the account is suspended, or its plan does not include data sources'
const unopened = "the credentials do not open with this service's master key: rotate them"

/** `final`: trying again changes nothing. */
type Read = SourceContent | { fault: string; final: boolean }

export function createSourceSync(deps: SourceSyncDeps) {
  const { sources, clock, log } = deps
  const { once, isInProgress } = turns()
  let halted = false
  const contentOf = contents(deps)
  /**
   * Converts every error into a fault, so that the source is retried and given up like any other.
   */
  const read = async (source: DataSource, timeoutMs: number): Promise<Read> => {
    try {
      return await contentOf(source, timeoutMs)
    } catch (error) {
      log.error('data_source_read_failed', { data_source: source.id, error })
      return { fault: 'it could not be read; the log of this service says why', final: false }
    }
  }

  const settled = recorder(deps)
  const isEntitled = entitlement(deps)
  /**
   * Undefined where nothing is written down: the service stops, or the source was changed
   * in the meantime.
   */
  const attempt = async (
    source: DataSource,
    trigger: SourceSyncLog['trigger'],
  ): Promise<SourceSyncLog | undefined> => {
    const [startedAt, since] = [clock.now(), clock.monotonic()]
    const outcome = await read(source, deps.timeoutMs)
    return halted ? undefined : settled(source, trigger, startedAt, since, outcome)
  }

  return {
    /** Reads a source and writes down what came of it. Never rejects. */
    async sync(source: DataSource) {
      try {
        await once(source, async () => {
          if (isEntitled(source)) await attempt(source, 'schedule')
          else sources.postpone(source, notEntitled)
        })
      } catch (error) {
        log.error('data_source_sync_failed', { data_source: source.id, error })
      }
    },
    /**
     * A sync at the operator's request; a sentence where nothing could be read and nothing is
     * logged.
     */
    async syncNow(source: DataSource): Promise<SourceSyncLog | { refused: string }> {
      // A sync sets the status, which would end the pause.
      if (source.status === 'paused') return { refused: 'its owner has paused it' }
      if (source.sourceType === 'webhook')
        return { refused: 'rows are pushed to it: there is nothing to be fetched' }
      if (!isEntitled(source)) return { refused: notEntitled }
      const unwritten = () => ({
        refused: halted ? 'this service is stopping' : 'it was changed or deleted during the sync',
      })
      const done = await once(
        source,
        async () => (await attempt(source, 'operator')) ?? unwritten(),
      )
      return done ?? { refused: 'it is being synced at this moment' }
    },
    /** Reads a source and writes nothing. */
    async test(source: DataSource): Promise<SourceTest> {
      const since = clock.monotonic()
      const outcome = await once(source, () => read(source, Math.min(testMs, deps.timeoutMs)))
      const durationMs = Math.round(clock.monotonic() - since)
      if (!outcome)
        return {
          durationMs,
          content: undefined,
          error: 'the source is being synced at this moment: test it again',
        }
      return 'fault' in outcome
        ? { durationMs, content: undefined, error: outcome.fault }
        : { durationMs, content: outcome, error: null }
    },
    /**
     * Stores content that was pushed to a source; undefined when the source was changed in the
     * meantime.
     */
    async push(source: DataSource, content: string) {
      const [startedAt, since] = [clock.now(), clock.monotonic()]
      const mask = withoutCredentials(sources.credentials(source) ?? {})
      const outcome = await deps.reader.read(
        Buffer.from(content),
        sources.config(source),
        mask,
        startedAt,
      )
      return settled(
        source,
        'push',
        startedAt,
        since,
        'fault' in outcome ? { ...outcome, final: true } : outcome,
      )
    },
    /** The secret for pushes; undefined where there is none, or one that is too short. */
    secretOf: (source: DataSource) => pushSecret(sources.credentials(source) ?? {}),
    isInProgress,
    /** Ends what is under way, without a trace: it is due again. */
    halt() {
      halted = true
      deps.fetch.halt()
    },
  }
}

/** One reading of a source at a time: `once` answers undefined while there is another. */
function turns() {
  const inProgress = new Set<number>()
  return {
    isInProgress: ({ number }: DataSource) => inProgress.has(number),
    async once<T>({ number }: DataSource, work: () => Promise<T>): Promise<T | undefined> {
      if (inProgress.has(number)) return undefined
      inProgress.add(number)
      try {
        return await work()
      } finally {
        inProgress.delete(number)
      }
    },
  }
}

/** Whether the account's rights allow a sync of the source now. */
const entitlement =
  ({ keys }: SourceSyncDeps) =>
  ({ accountId }: DataSource): boolean => {
    const entitled = entitledNow(keys, accountId)
    return entitled !== undefined && hasFeature(entitled, 'data_connector')
  }

/** Records the result of a sync, and logs it. */
function recorder({ sources, clock, log }: SourceSyncDeps) {
  const notify = (
    { id, sourceType }: DataSource,
    { status, error, inserted, revised, unchanged, rejected }: SourceSyncLog,
  ) => {
    const fields = {
      data_source: id,
      source_type: sourceType,
      inserted,
      revised,
      unchanged,
      rejected,
    }
    if (status === 'success') log.info('data_source_synced', fields)
    else log.warn('data_source_not_synced', { ...fields, error })
  }
  return (
    source: DataSource,
    trigger: SourceSyncLog['trigger'],
    startedAt: number,
    since: number,
    outcome: Read,
  ) => {
    const isFault = 'fault' in outcome
    const nothing = { rows: [], received: 0, rejected: 0, rejections: [] }
    const noneTaken = !isFault && outcome.received > 0 && outcome.rejected === outcome.received
    const error = isFault
      ? outcome.fault
      : noneTaken
        ? `none of the ${outcome.received} rows could be taken: ${outcome.rejections[0]}`
        : null
    const written = sources.settle(source, {
      ...(isFault ? nothing : outcome),
      trigger,
      error,
      final: isFault && outcome.final,
      startedAt,
      durationMs: Math.round(clock.monotonic() - since),
    })
    if (written) notify(source, written)
    return written
  }
}

/** Reads the current content of a source. */
function contents({ sources, reader, fetch, files, clock }: SourceSyncDeps) {
  const incomplete = (fault: string): Read => ({ fault: `scraper_config.${fault}`, final: true })

  const fetched = async (source: DataSource, timeoutMs: number) => {
    const config = sources.config(source)
    if (config.url === undefined)
      return incomplete('url is missing: name the address that the rows are at')
    const credentials = sources.credentials(source)
    if (!credentials) return { fault: unopened, final: true }
    const auth = authHeaders(config, credentials)
    if ('fault' in auth) return { ...auth, final: true }
    return fetch.get(config.url, auth.headers, { bytesMax: contentBytesMax, timeoutMs })
  }
  const stored = async (source: DataSource) => {
    const { path } = sources.config(source)
    return path === undefined
      ? incomplete('path is missing: name a file in the directory for files')
      : files.read(path, contentBytesMax)
  }
  const pushed = (source: DataSource): Read => {
    const right = `credentials.secret with at least ${pushSecretCharactersMin} characters`
    if (pushSecret(sources.credentials(source) ?? {}) === undefined)
      return { fault: `nothing can be pushed yet: set ${right}`, final: true }
    const rows = sources.newestRows(source, 5)
    return { rows, received: rows.length, rejected: 0, rejections: [] }
  }

  return async (source: DataSource, timeoutMs: number): Promise<Read> => {
    const { sourceType } = source
    if (!isSynced(sourceType)) {
      return {
        fault: `this build does not sync sources of type ${sourceType}: only ${syncedTypes.join(', ')} are`,
        final: true,
      }
    }
    if (sourceType === 'webhook') return pushed(source)
    const content = await (sourceType === 'api' ? fetched(source, timeoutMs) : stored(source))
    if (!('bytes' in content)) return 'fault' in content ? { final: false, ...content } : content
    const outcome = await reader.read(
      content.bytes,
      sources.config(source),
      withoutCredentials(sources.credentials(source) ?? {}),
      clock.now(),
    )
    return 'fault' in outcome
      ? { fault: `what came was not taken: ${outcome.fault}`, final: false }
      : outcome
  }
}
