import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { KV, KvEntry } from '@nats-io/kv'
import type { ObjectStore } from '@nats-io/obj'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { every } from '../../lib/time/clock.ts'
import { defaultPrefix, type NatsNames, natsNames } from './names.ts'

export interface NatsSettings {
  servers: readonly string[]
  /** Empty: none. */
  credentialsFile: string
  token: string
  /** The name of this instance in the server's list of connections. */
  name: string
  /** The prefix of the names of streams and buckets. */
  prefix?: string
}

/** The settings of a connection as the configuration has them. */
export const natsSettings = (
  {
    servers,
    credentialsFile,
    token,
    prefix,
  }: {
    servers: readonly string[]
    credentialsFile: string
    token: { reveal(): string }
    prefix: string
  },
  name: string,
): NatsSettings => ({ servers, credentialsFile, token: token.reveal(), prefix, name })

/** A value of a bucket, and the revision that a change of it must name. */
export interface BucketEntry {
  key: string
  text: string
  revision: number
}

/** Values by key, each changed by comparing and setting. */
export interface Bucket {
  /** Undefined where there is none, or none any more. */
  get(key: string): Promise<BucketEntry | undefined>
  /**
   * Sets a value over a revision, 0 for a new one. Returns the new revision; undefined where
   * another client was faster. Throws where the result is unknown.
   */
  set(key: string, text: string, revision: number): Promise<number | undefined>
  /** Throws where no server of the cluster leads the bucket, so that no one can set values. */
  checkLed(): Promise<void>
  /** Sets a value whatever was there. */
  put(key: string, text: string): Promise<void>
  list(): Promise<BucketEntry[]>
  /** Hands on what is there and each change, until the connection ends; then it throws or returns. */
  watch(changed: (entry: BucketEntry) => void): Promise<void>
}

/** The server's error code for a wrong last revision, or a wrong last message. */
export const wrongLastSequence = 10071

/** A connection with its clients. */
export interface Nats {
  connection: NatsConnection
  jetstream: JetStreamClient
  manager: JetStreamManager
  names: NatsNames
  headers(values: Readonly<Record<string, string>>): MsgHdrs
  /** How many bytes the body of a message may have on the server that is connected now. */
  messageBytesMax(): number
  /** The object store of a name, made where it is not there. */
  objects(name: string, copies: number): Promise<ObjectStore>
  /** The bucket of a name, made where it is not there; its values are forgotten after `ttlMs`, 0: never. */
  bucket(name: string, copies: number, ttlMs: number): Promise<Bucket>
  close(): Promise<void>
}

const timeoutMs = 5000
const reconnectWaitMs = 250
/** A server counts the headers of a message as part of it. */
const headerBytesMax = 2048
const bodyBytesMin = 512

/**
 * Connects to the first server that responds, and reconnects forever. The client is loaded only
 * here, so that instances without NATS do not pay for it.
 */
export async function connectNats(settings: NatsSettings): Promise<Nats> {
  const [{ connect, credsAuthenticator, headers }, { jetstream, jetstreamManager }] =
    await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')])
  const { servers, credentialsFile, token, name, prefix = defaultPrefix } = settings
  const connection = await connect({
    servers: [...servers],
    name,
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    ...(token !== '' && { token }),
    ...(credentialsFile !== '' && {
      authenticator: credsAuthenticator(await Bun.file(credentialsFile).bytes()),
    }),
  })
  const client = jetstream(connection)
  const manager = await jetstreamManager(connection)
  return {
    connection,
    jetstream: client,
    manager,
    names: natsNames(prefix),
    headers(values) {
      const set = headers()
      for (const [key, value] of Object.entries(values)) set.set(key, value)
      return set
    },
    messageBytesMax: () =>
      Math.max(bodyBytesMin, (connection.info?.max_payload ?? 0) - headerBytesMax),
    async objects(bucket, copies) {
      const { Objm } = await import('@nats-io/obj')
      return await new Objm(connection).create(bucket, { replicas: copies })
    },
    async bucket(name, copies, ttlMs) {
      const { Kvm } = await import('@nats-io/kv')
      const create = () =>
        new Kvm(connection).create(name, {
          replicas: copies,
          history: 1,
          ...(ttlMs > 0 && { ttl: ttlMs }),
        })
      const isThere = () =>
        manager.streams.info(`KV_${name}`).then(
          () => true,
          error => !isNotFound(error),
        )
      return lastingBucket(await create(), create, isThere, values =>
        bucketOf(values, name, client, manager),
      )
    },
    close: () => connection.close(),
  }
}

const entryOf = (entry: KvEntry | null): BucketEntry | undefined =>
  entry?.operation === 'PUT'
    ? { key: entry.key, text: entry.string(), revision: entry.revision }
    : undefined

const streamNotFound = 10059

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (error as Error & { code?: unknown }).code === streamNotFound

/** A bucket that was deleted is created again at its next use. */
function lastingBucket(
  first: KV,
  create: () => Promise<KV>,
  isThere: () => Promise<boolean>,
  bucketFor: (values: KV) => Bucket,
): Bucket {
  let bucket = bucketFor(first)
  const again = async <T>(work: (current: Bucket) => Promise<T>): Promise<T> => {
    try {
      return await work(bucket)
    } catch (error) {
      // Requests to a deleted stream fail in many ways, most often by a timeout.
      if (await isThere()) throw error
      bucket = bucketFor(await create())
      return await work(bucket)
    }
  }
  return {
    get: key => again(current => current.get(key)),
    set: (key, text, revision) => again(current => current.set(key, text, revision)),
    checkLed: () => again(current => current.checkLed()),
    put: (key, text) => again(current => current.put(key, text)),
    list: () => again(current => current.list()),
    watch: changed => again(current => current.watch(changed)),
  }
}

const watchCheckMs = 2000
const setTriesMax = 50

function bucketOf(
  values: KV,
  name: string,
  client: JetStreamClient,
  manager: JetStreamManager,
): Bucket {
  return {
    get: async key => entryOf(await values.get(key)),
    async set(key, text, revision) {
      // Replicated servers compare the revision of a key before they agree on the order, so that
      // two writers at once may both get a success. The last message of the whole bucket is
      // compared after it.
      const stored = revision === 0 ? await values.get(key) : null
      // Deleting a key leaves a message, whose revision the next value must name.
      const over = stored && stored.operation !== 'PUT' ? stored.revision : revision
      for (let tries = 0; tries < setTriesMax; tries++) {
        const { state } = await manager.streams.info(`KV_${name}`)
        try {
          const expect = { lastSequence: state.last_seq, lastSubjectSequence: over }
          return (await client.publish(`$KV.${name}.${key}`, text, { expect })).seq
        } catch (error) {
          if (!isWrongSequence(error)) throw error
        }
        const last = await manager.streams
          .getMessage(`KV_${name}`, { last_by_subj: `$KV.${name}.${key}` })
          .catch(() => null)
        // Else it was another key that was set in the meantime.
        if ((last?.seq ?? 0) !== over) return undefined
      }
      throw new Error(`the bucket ${name} is changed faster than it can be set`)
    },
    async checkLed() {
      const { cluster } = (await values.status()).streamInfo
      if (cluster && !cluster.leader) throw new Error('no server leads the bucket')
    },
    async put(key, text) {
      await values.put(key, text)
    },
    async list() {
      // The list of keys of the client makes a consumer, which a deleted bucket leaves waiting.
      const prefix = `$KV.${name}.`
      const filter = { subjects_filter: `${prefix}>` }
      const { state } = await manager.streams.info(`KV_${name}`, filter)
      const keys = Object.keys(state.subjects ?? {}).map(subject => subject.slice(prefix.length))
      const entries = await Promise.all(keys.map(key => values.get(key)))
      return entries.flatMap(entry => entryOf(entry) ?? [])
    },
    async watch(changed) {
      const { created } = await manager.streams.info(`KV_${name}`)
      let end: () => void = () => {}
      const ended = new Promise<undefined>(done => {
        end = () => done(undefined)
      })
      // A bucket that is deleted ends no one's watch.
      const stopChecking = every(watchCheckMs, () => {
        manager.streams.info(`KV_${name}`).then(
          info => info.created !== created && end(),
          error => isNotFound(error) && end(),
        )
      })
      const entries = await values.watch()
      try {
        const iterator = entries[Symbol.asyncIterator]()
        for (;;) {
          const next = await Promise.race([iterator.next(), ended])
          if (!next || next.done) return
          const change = entryOf(next.value)
          if (change) changed(change)
        }
      } finally {
        stopChecking()
        entries.stop()
      }
    },
  }
}

/** Someone else has published, or set the value, in the meantime. */
export const isWrongSequence = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === wrongLastSequence
