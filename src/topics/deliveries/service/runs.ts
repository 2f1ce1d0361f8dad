import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { dayMs, minuteMs } from '../../../lib/time/instant.ts'
import type { Outbox, Settled } from '../../../outbox/outbox.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { Delivery, DeliveryStore } from '../store/deliveries.ts'
import type { DeliveryRun, DeliveryRunStore, RunTrigger } from '../store/runs.ts'
import { deliveryMessage } from './mail-message.ts'
import type { PriceList } from './prices.ts'

export type { DeliveryRun, RunTrigger } from '../store/runs.ts'

/** A run as it stands: `processing` while an attempt to hand its e-mail over is under way. */
export type RunState = Omit<DeliveryRun, 'status'> & {
  status: DeliveryRun['status'] | 'processing'
}

export type DeliveryRuns = ReturnType<typeof createDeliveryRuns>

export interface DeliveryRunsDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  store: DeliveryStore
  runs: DeliveryRunStore
  keys: Pick<Keyring, 'account'>
  mail: Mail
  outbox: Pick<Outbox, 'listen' | 'log'>
  prices(codes: readonly string[], zone: string, accountId: string): PriceList
  serviceName: string
  /** Whether the clock can be trusted to delete old runs. */
  retention: { mayForget(): boolean }
}

const refPrefix = 'delivery_run:'
/** Longer than an attempt takes: runs that wait longer are compared with the outbox. */
const unsettledMs = 15 * minuteMs
const retentionMs = 400 * dayMs
/** Takes a few milliseconds to write. */
const rowsAtOnce = 200

export function createDeliveryRuns(deps: DeliveryRunsDeps) {
  const { db, store, runs, keys, mail, outbox, prices, clock, ids, serviceName } = deps
  const recipient = (delivery: Delivery) =>
    delivery.recipientEmail ?? keys.account(delivery.accountId)!.account.email
  const messageOf = (run: DeliveryRun) => outbox.log.find('email', 'email', run.id)

  /** Why nothing is sent; undefined if something is. */
  const skipReason = (delivery: Delivery, { prices, missing }: PriceList): string | undefined => {
    if (!delivery.enabled) return 'The delivery is paused.'
    if (keys.account(delivery.accountId)!.account.suspendedAt !== null)
      return 'The account is suspended.'
    return prices.length === 0 ? `No code has a current price: ${missing.join(', ')}.` : undefined
  }
  const settleRun = (
    id: string,
    status: 'sent' | 'suppressed',
    error: string | null,
    sentAt: number | null,
  ) => {
    const run = runs.settle(id, status, error, sentAt)
    if (run && status === 'sent') store.delivered(run.delivery, run.localOn)
  }
  const onSettled = ({ ref, state, error, at }: Settled) => {
    if (!ref?.startsWith(refPrefix)) return
    const id = ref.slice(refPrefix.length)
    if (state === 'retry') runs.note(id, error)
    else if (state === 'delivered') settleRun(id, 'sent', null, at)
    else settleRun(id, 'suppressed', error ?? 'It could not be sent.', null)
  }
  outbox.listen('email', onSettled)

  return {
    recipient,
    /**
     * Makes a run with its e-mail, inside the caller's transaction: prices and attachment are those
     * of this moment on every attempt. Undefined when the local day has its scheduled run.
     */
    make(delivery: Delivery, trigger: RunTrigger, day: string) {
      const now = clock.now()
      const list = prices(delivery.commodityCodes, delivery.timeZone, delivery.accountId)
      const skipped = skipReason(delivery, list)
      const run: DeliveryRun = {
        id: ids.uuidAt(now),
        delivery: delivery.number,
        trigger,
        localOn: day,
        recipient: recipient(delivery),
        status: skipped === undefined ? 'pending' : 'skipped',
        error: skipped ?? null,
        createdAt: now,
        sentAt: null,
      }
      if (!runs.add(run)) return undefined
      if (skipped !== undefined) return run
      const { accountId } = delivery
      // The name of a delivery is free text of the account, which unverified recipients do not get.
      const takesText = mail.takesText(accountId, run.recipient)
      const shown = takesText ? delivery : { ...delivery, name: null }
      const envelope = { to: run.recipient, accountId, recurring: true }
      const refusal = mail.refusal(envelope)
      const messageId = mail.post({
        ...deliveryMessage({
          delivery: shown,
          trigger,
          day,
          list,
          serviceName,
          pageUrl: mail.pageUrl(`/webhooks#${delivery.id}`),
        }),
        ...envelope,
        dedupe: run.id,
        ref: refPrefix + run.id,
      })
      if (messageId !== undefined) return run
      const error = refusal ?? 'E-mail to this address is switched off.'
      return runs.settle(run.id, 'suppressed', error, null)!
    },
    last(delivery: Delivery): RunState | undefined {
      const run = runs.last(delivery.number)
      return run?.status === 'pending' && messageOf(run)?.state === 'leased'
        ? { ...run, status: 'processing' }
        : run
    },
    lastBackup: (delivery: Delivery) => runs.lastBackup(delivery.number),
    lastDay: (delivery: Delivery) => runs.lastDay(delivery.number),
    /** Ends runs whose e-mail ended without notice, and deletes old ones. */
    tidy() {
      const now = clock.now()
      transact(db, () => {
        for (const run of runs.waiting(now - unsettledMs, rowsAtOnce)) {
          const message = messageOf(run)
          if (!message) settleRun(run.id, 'suppressed', 'Its e-mail no longer exists.', null)
          else if (message.state === 'delivered')
            settleRun(run.id, 'sent', null, message.deliveredAt)
          else if (message.state === 'failed')
            settleRun(run.id, 'suppressed', message.error ?? 'It could not be sent.', null)
        }
        if (deps.retention.mayForget()) runs.forget(now - retentionMs, rowsAtOnce)
      })
    },
  }
}
