import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { ObjectStore } from '@nats-io/obj'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'

export interface NatsSettings {
  servers: readonly string[]
  /** Empty: none. */
  credentialsFile: string
  token: string
  /** How this copy is called in the server's list of connections. */
  name: string
}

/** A connection with what is used of it. */
export interface Nats {
  connection: NatsConnection
  jetstream: JetStreamClient
  manager: JetStreamManager
  headers(values: Readonly<Record<string, string>>): MsgHdrs
  /** The object store of a name, made where it is not there. */
  objects(name: string, copies: number): Promise<ObjectStore>
  close(): Promise<void>
}

const timeoutMs = 5000
const reconnectWaitMs = 250

/**
 * Connects to the first server that answers, and again for ever when a connection is lost. The
 * client is read from the program only here: who has no NATS does not pay for it.
 */
export async function connectNats(settings: NatsSettings): Promise<Nats> {
  const [{ connect, credsAuthenticator, headers }, { jetstream, jetstreamManager }] =
    await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')])
  const { servers, credentialsFile, token, name } = settings
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
  return {
    connection,
    jetstream: jetstream(connection),
    manager: await jetstreamManager(connection),
    headers(values) {
      const set = headers()
      for (const [key, value] of Object.entries(values)) set.set(key, value)
      return set
    },
    async objects(bucket, copies) {
      const { Objm } = await import('@nats-io/obj')
      return await new Objm(connection).create(bucket, { replicas: copies })
    },
    close: () => connection.close(),
  }
}
