import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { fileFaults, type PathFault } from '../../config/paths.ts'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { namingFile, versionOf } from '../../database/database.ts'
import { hasTable } from '../../database/identity.ts'
import { readDatabase } from '../../database/reading.ts'
import { masterKeyPath, missingMasterKey, storedMasterKey } from '../../lib/secrets/master-key.ts'
import { createReplicationState } from '../../replication/store/state.ts'
import { createProviderWatch } from '../../send/provider-watch.ts'
import { processorOf } from '../../topics/billing/service/billing.ts'
import { configuredLimits, configuredPlans } from '../../topics/keys/service/configured-plans.ts'
import { createVault } from '../../topics/keys/service/vault.ts'
import { mailerOf, smsProviderOf } from '../../topics/messages/service/providers.ts'
import { opensEverySample } from '../../topics/operator/service/secret-check.ts'
import { createSecretCheckStore } from '../../topics/operator/store/secret-check.ts'
import { type Settings, settingsStore } from '../../topics/operator/store/settings.ts'

export interface RefusalOptions {
  runtime: ProcessRuntime
  dir: string
  /** The directory is opened to be served, not for one command. */
  serving: boolean
}

/**
 * Throws what keeps this instance from using an existing database. The database is only read: a
 * start that is refused leaves it as it was, in the schema that it has.
 */
export function refuseDatabase(path: string, options: RefusalOptions): void {
  if (!existsSync(path)) return
  const refusal = namingFile(path, () =>
    readDatabase(path, db =>
      versionOf(db) > 0 ? refusalOf(db, path, options) : modeRefusal(undefined, options),
    ),
  )
  if (refusal !== undefined) throw new Error(refusal)
}

/**
 * Throws on settings that a start cannot work with. It is called before anything is written, which
 * opening the services is not.
 */
export function refuseSettings({ config, clock, log }: ProcessRuntime, dir: string): void {
  storedMasterKey(dir, config.secrets.masterKey.reveal())
  refusePaths(fileFaults(config))
  configuredPlans(config, configuredLimits(config))
  const deps = { config, clock, log, inbox: { add() {} } }
  mailerOf(deps)
  smsProviderOf(deps)
  processorOf(config, clock, createProviderWatch('payments', log))
}

/** Throws on paths of the configuration that cannot be used; each is reported on a line. */
export function refusePaths(faults: readonly PathFault[]): void {
  if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('\n'))
}

/** The database may have the schema of any version, so tables of later ones may be missing. */
function refusalOf(db: Database, path: string, options: RefusalOptions): string | undefined {
  return (
    replicationRefusal(db, options) ?? keyRefusal(db, path, options) ?? modeRefusal(db, options)
  )
}

/**
 * Writes to a database that another instance took over from would be lost, as would those to a
 * replica.
 */
function replicationRefusal(db: Database, { dir, serving }: RefusalOptions): string | undefined {
  if (!hasTable(db, 'replication_state')) return undefined
  const state = createReplicationState(db)
  const replacedBy = state.get('replaced_by')
  if (serving && replacedBy !== undefined)
    return `${dir} cannot be served: another instance took over from it, ${replacedBy}. "wellhead promote" makes it the primary from the stream and preserves this database. "wellhead promote --from-here" makes this database the primary again and ends the other instance's epoch.`
  if (state.get('replica_at') !== undefined)
    return `${dir} is a replica: serve it with --replica. "wellhead promote" makes it the primary with what the stream has.`
  return undefined
}

/**
 * A key that does not open what is sealed belongs to another database: with it every webhook would
 * be signed wrongly, or not at all.
 */
function keyRefusal(
  db: Database,
  path: string,
  { runtime, dir }: RefusalOptions,
): string | undefined {
  if (runtime.takesNewMasterKey) return undefined
  const configured = runtime.config.secrets.masterKey.reveal()
  const key = storedMasterKey(dir, configured)
  const store = createSecretCheckStore(db)
  if (key === undefined) return store.sealedCount() > 0 ? missingMasterKey(dir) : undefined
  if (opensEverySample(createVault(key), store)) return undefined
  const place = configured === '' ? masterKeyPath(dir) : 'secrets.master_key'
  return `${place} does not open what is sealed in ${path}: it is not the key with which webhook secrets and credentials were sealed. Put the right key there. Without it, start with --new-master-key: the secrets of webhooks and the credentials of data sources are lost then and must be entered again.`
}

/** Without a database it has no tables. */
function modeRefusal(
  db: Database | undefined,
  { runtime: { config }, dir, serving }: RefusalOptions,
): string | undefined {
  if (!serving) return undefined
  const conflict = conflictOf({
    settings: db ? settingsStore(db) : { get: () => undefined },
    config,
    hasObservations: () =>
      db !== undefined && createSecretCheckStore(db).recordedAt() !== undefined,
  })
  return conflict && `${dir} cannot be used: ${conflict}; name another directory with --data.`
}

/**
 * A directory holds real data or a demo instance, never both: customers would take generated values
 * for real ones.
 */
export function conflictOf({
  settings,
  config,
  hasObservations,
}: {
  settings: Pick<Settings, 'get'>
  config: Pick<Config, 'mode' | 'dev'>
  hasObservations(): boolean
}): string | undefined {
  const mode = settings.get(modeName)
  if (mode === config.mode) return mode === 'dev' ? otherWorld(settings, config) : undefined
  if (mode === 'dev')
    return 'it is a demo instance with generated data, which the command serve does not serve'
  if (mode !== undefined)
    return 'it holds real data, into which the command dev would mix generated data'
  if (config.mode === 'serve') return undefined
  return hasObservations()
    ? 'it holds observations already, into which the command dev would mix generated data'
    : 'it has a database without demo data, which the command dev generates for a new directory only'
}

/** Records in a database that it holds real data. */
export function claimForProduction(settings: Settings): void {
  if (settings.get(modeName) === undefined) settings.set(modeName, 'serve')
}

/** Records in a database that demo data is generated into it, and which. */
export function claimForDemo({
  settings,
  config,
}: {
  settings: Settings
  config: Pick<Config, 'dev'>
}): void {
  settings.set(modeName, 'dev')
  settings.set(worldName, worldOf(config))
}

const modeName = 'directory.mode'
const worldName = 'fixture.world'

const worldOf = ({ dev: { world, seed } }: Pick<Config, 'dev'>) => `${world} ${seed}`

/** A directory keeps its demo data: with other data its histories would break off. */
function otherWorld(
  settings: Pick<Settings, 'get'>,
  config: Pick<Config, 'dev'>,
): string | undefined {
  const stored = settings.get(worldName)
  if (stored === worldOf(config)) return undefined
  const [world, seed] = stored?.split(' ') ?? []
  if (seed === undefined) return 'an earlier version of this program generated its demo world'
  return `it has the ${world} demo world of seed ${seed}, which needs "--world ${world} --seed ${seed}"`
}
