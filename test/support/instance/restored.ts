import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../src/cli/program.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { transact } from '../../../src/database/database.ts'
import { type Instance, openInstance } from '../../../src/instance/instance.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { hourMs } from '../../../src/lib/time/instant.ts'
import { lastDelivery } from '../../../src/plans/messages/delivery-schedule.ts'
import { createAlertPriceStore } from '../../../src/topics/alerts/store/prices.ts'
import { createDeliveryStore } from '../../../src/topics/deliveries/store/deliveries.ts'
import { defaultSettings } from '../../../src/topics/webhooks/store/webhooks.ts'
import { provider, type Stand } from '../servers/provider.ts'
import { type SmtpServer, smtpServer } from '../servers/smtp-server.ts'
import { daily } from '../topics/deliveries.ts'
import { until } from '../until.ts'
import { noInput } from './memory-writer.ts'

/** The webhooks that a backup holds, by their event ids. */
export const heldEvents = {
  waiting: 'evt_00000000000000000000000001',
  retrying: 'evt_00000000000000000000000002',
  leased: 'evt_00000000000000000000000003',
}

export interface Outcome {
  code: number
  lines: string[]
  err: string
}

export interface Running {
  /** As the owner of the endpoint. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>
  /** As SIGTERM does: requests in progress end first. */
  stop(): Promise<void>
}

/** A backup of an instance that had things to send, and receivers on loopback for all of them. */
export interface BackedUp {
  folder: string
  file: string
  webhookId: string
  /** Ids of the events that came in. */
  hooks: string[]
  mails: SmtpServer
  texts: Stand
  /**
   * A new directory with the settings and the key of the one that the backup is of, without a
   * database.
   */
  directory(): string
  opened(dir: string): Instance
  command(...args: string[]): Promise<Outcome>
  /** The server of a directory, once it listens. */
  serving(dir: string): Promise<Running>
  close(): void
}

type Hearing = Partial<{ out(line: string): void; onStop(listener: () => void): void }>

export async function backedUp(): Promise<BackedUp> {
  const folder = mkdtempSync(join(tmpdir(), 'wellhead-restore-'))
  const [mails, texts, hooks] = [
    await smtpServer(),
    await provider(['ok'], '{"sid":"SM1"}'),
    [] as string[],
  ]
  const hook = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      hooks.push(request.headers.get('webhook-id')!)
      return new Response('ok')
    },
  })
  let names = 0
  const directory = () => {
    names += 1
    const dir = join(folder, `data-${names}`)
    mkdirSync(dir)
    writeFileSync(join(dir, 'master.key'), '0123456789abcdef'.repeat(4), { mode: 0o600 })
    writeFileSync(join(dir, 'wellhead.toml'), settingsOf(mails.url, texts.url))
    return dir
  }
  const opened = (dir: string) => {
    const config = loadConfig({
      mode: 'serve',
      flags: { 'data.dir': dir },
      env: {},
      files: { directory: folder },
    })
    const clock = createSystemClock()
    const log = createLog({ level: 'error', format: 'json', write() {}, clock })
    return openInstance({ runtime: { config, clock, ids: createRandomIds(), log }, dir })
  }
  const command = async (
    args: readonly string[],
    { out, onStop = () => undefined }: Hearing = {},
  ): Promise<Outcome> => {
    const [lines, err]: [string[], string[]] = [[], []]
    const code = await run(args, {
      env: { WELLHEAD_LOG_LEVEL: 'error' },
      directory: folder,
      stdin: noInput(),
      terminal: undefined,
      write() {},
      onStop,
      out(line) {
        lines.push(line)
        out?.(line)
      },
      err: line => void err.push(line),
      exit: status => process.exit(status),
    })
    return { code, lines, err: err.join('\n') }
  }
  const source = directory()
  const instance = opened(source)
  const { token, webhookId } = fill(instance, `http://127.0.0.1:${hook.port}/`)
  const file = join(folder, 'backup.db')
  const outcome = await command(['backup', '--data', source, file])
  instance.close()
  if (outcome.code !== 0) throw new Error(outcome.err)
  return {
    folder,
    file,
    webhookId,
    hooks,
    mails,
    texts,
    directory,
    opened,
    command: (...args) => command(args),
    serving: dir => serving(dir, token, command),
    close() {
      hook.stop(true)
      mails.close()
      texts.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const settingsOf = (smtpUrl: string, twilioUrl: string) => `
[egress]
allow = ["127.0.0.0/8"]
[mail]
provider = "smtp"
smtp_url = "${smtpUrl}"
[sms]
provider = "twilio"
twilio_account = "AC${'0'.repeat(32)}"
twilio_token = "token"
twilio_from = "+15005550006"
twilio_url = "${twilioUrl}"
`

/**
 * A webhook that waits, one that will be retried, one in progress, an e-mail of a delivery, a text
 * message, a delivery that is due, a price.
 */
function fill({ services }: Instance, hookUrl: string): { token: string; webhookId: string } {
  const { keys, ids, clock, catalogue, outbox, db } = services
  const now = clock.now()
  const account = keys.putAccount({
    id: ids.uuid(),
    email: 'ann@example.com',
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: now,
    suspendedAt: null,
    createdAt: now,
  })
  const { token } = keys.addKey(account)
  const { id: accountId } = account.account
  const webhook = services.webhooks.create(account, {
    ...defaultSettings,
    url: hookUrl,
    events: ['price_alert.triggered'],
  })
  if ('refused' in webhook) throw new Error('no endpoint was made')
  const { id: webhookId } = webhook.endpoint
  const message = {
    kind: 'webhook',
    accountId,
    lane: webhookId,
    eventType: 'price.updated',
    body: '{}',
  } as const
  const { engine } = outbox
  const claimed = (eventId: string) => {
    transact(db, () => outbox.put({ ...message, eventId }))
    return transact(db, () => engine.claim('webhook', webhookId, 1, { state: 'open' }))[0]!
  }
  claimed(heldEvents.leased)
  const failed = claimed(heldEvents.retrying)
  transact(db, () =>
    engine.settle(
      failed,
      { state: 'open' },
      { state: 'retry', error: 'answered 503', retryAfterMs: 1, durationMs: 1 },
    ),
  )
  transact(db, () => outbox.put({ ...message, eventId: heldEvents.waiting }))

  const series = catalogue.named('BRENT_CRUDE_USD')!
  services.ingest.write([{ seriesId: series.id, observedAt: now - hourMs, value: 74.25 }])
  const mailMessage = services.deliveries.create(
    account,
    { ...daily, commodityCodes: ['BRENT_CRUDE_USD'], deliveryTime: '00:00' },
    { source: 'api' },
  )
  if ('refused' in mailMessage) throw new Error('no delivery was made')
  services.deliveries.sendNow(mailMessage)
  const due = lastDelivery(mailMessage, now)
  createDeliveryStore(db).schedule(mailMessage.number, due)

  const sms = { to: '+447911123456', accountId, dedupe: 'code 1', purpose: 'verification' } as const
  transact(db, () => services.textMessages.post({ ...sms, text: 'Your code is 123456' }))

  const condition = { kind: 'price', operator: 'greater_than', value: 1 } as const
  const rest = { metadata: null, webhookUrl: null, cooldownMinutes: 0, enabled: true }
  services.alerts.create(account, {
    name: 'Brent above 1',
    seriesId: series.id,
    condition,
    ...rest,
  })
  createAlertPriceStore(db).add({
    seriesId: series.id,
    sourceId: series.id,
    observedAt: now - hourMs,
    value: 74.25,
    at: clock.now() + 1,
  })
  return { token, webhookId }
}

async function serving(
  dir: string,
  token: string,
  command: (args: readonly string[], hearing: Hearing) => Promise<Outcome>,
): Promise<Running> {
  const listens = Promise.withResolvers<string>()
  const waiting: (() => void)[] = []
  const ended = command(['serve', '--data', dir, '--port', '0'], {
    out(line) {
      const url = /^Wellhead at (\S+)$/.exec(line)?.[1]
      if (url) listens.resolve(url)
    },
    onStop: listener => void waiting.push(listener),
  })
  const early = ended.then(({ err }): string => {
    throw new Error(err)
  })
  const url = await Promise.race([listens.promise, early])
  early.catch(() => undefined)
  return {
    async ask<T>(method: string, path: string, body?: unknown) {
      const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' }
      const response = await fetch(url + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return (await response.json()) as T
    },
    async stop() {
      for (const ask of waiting) ask()
      await ended
    },
  }
}

export const arrived = (isThere: () => boolean) => until('a message arrives', isThere)

export const databaseIn = (dir: string): string => join(dir, 'wellhead.db')

/** Reads alongside anyone who has the database. */
export function rowsIn<T>(path: string, sql: string): T[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.query(sql).all() as T[]
  } finally {
    db.close()
  }
}

export const unsentIn = (path: string): number =>
  rowsIn<unknown>(path, "SELECT 1 FROM outbox WHERE state IN ('pending', 'retry', 'leased')").length
