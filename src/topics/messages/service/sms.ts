import type { Clock } from '../../../lib/time/clock.ts'
import { startOfMonth } from '../../../lib/time/instant.ts'
import { startOfLocalDay, wallTime } from '../../../lib/time/zone.ts'
import type { Outbox } from '../../../outbox/outbox.ts'
import { isQuiet } from '../../../plans/messages/quiet.ts'
import { hasFeature } from '../../../plans/plans.ts'
import { headerLine } from '../../../send/messages/mailer.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { PhoneStore } from '../store/phones.ts'
import type { PreferenceStore } from '../store/preferences.ts'
import type { SmsSettings, SmsStore } from '../store/sms.ts'

/** A short message to a phone. */
export interface TextMessage {
  /** E.164. */
  to: string
  text: string
  accountId: string
  dedupe: string
  /**
   * Alerts obey quiet hours, the daily maximum and the month's allowance; a code for verification
   * does not.
   */
  purpose: 'alert' | 'verification' | 'test'
}

export interface Allowance {
  /** Null: unlimited. */
  monthlyLimit: number | null
  usedThisMonth: number
  remaining: number | null
}

export type TextMessages = ReturnType<typeof createTextMessages>

export interface TextsDeps {
  outbox: Outbox
  sms: SmsStore
  phones: PhoneStore
  preferences: PreferenceStore
  keys: Keyring
  vault: Vault
  clock: Clock
  reaches: boolean
}

/**
 * The content of a text message in the outbox. A code is sealed, because it must not be readable at
 * rest.
 */
export type PostedText = { to: string; text: string } | { to: string; sealed: string }

export const sealContext = (dedupe: string) => `sms ${dedupe}`

/** The types of messages that alerts send. */
export const smsAlertTypes = ['price_alert', 'analytics_alert'] as const

/** In force until the account sets its own; nothing is sent before it has opted in. */
export const firstSmsSettings: SmsSettings = {
  enabled: true,
  quiet: null,
  timeZone: 'UTC',
  messagesPerDayMax: 10,
  alertTypes: smsAlertTypes,
}

/** Three messages of the network's size: a longer one costs more and is read by no one. */
const textCharactersMax = 459

/** Rules for messages to an account: its rights and its settings. */
function createSmsRules({ sms, phones, preferences, keys, clock }: TextsDeps) {
  const settings = (accountId: string) => sms.settings(accountId) ?? firstSmsSettings
  const entitlementsOf = (accountId: string) => entitledNow(keys, accountId)
  return {
    settings,
    allowance(accountId: string): Allowance {
      const monthlyLimit = entitlementsOf(accountId)?.smsPerMonth
      const usedThisMonth = sms.countSince(accountId, startOfMonth(clock.now()))
      if (monthlyLimit === null) return { monthlyLimit, usedThisMonth, remaining: null }
      return {
        monthlyLimit: monthlyLimit ?? 0,
        usedThisMonth,
        remaining: Math.max(0, (monthlyLimit ?? 0) - usedThisMonth),
      }
    },
    /** The number that the account's owner has agreed to be written to at. */
    agreedNumber(accountId: string): string | undefined {
      const entitlements = entitlementsOf(accountId)
      const phone = phones.of(accountId)
      if (
        !entitlements ||
        !hasFeature(entitlements, 'sms') ||
        !phone ||
        phone.verifiedAt === null ||
        phone.optedInAt === null
      )
        return undefined
      return phone.number
    },
    wantsAlerts(accountId: string): boolean {
      const { sms: preferred } = preferences.of(accountId)
      return settings(accountId).enabled && preferred.enabled && preferred.priceAlerts
    },
    /** Why an alert has to be left out for now. */
    hindrance(accountId: string): string | undefined {
      const { quiet, timeZone, messagesPerDayMax } = settings(accountId)
      const now = clock.now()
      if (quiet && isQuiet(quiet, wallTime(now, timeZone).minute)) return 'Quiet hours.'
      if (sms.countSince(accountId, startOfLocalDay(now, timeZone)) >= messagesPerDayMax)
        return 'The daily maximum is reached.'
      return undefined
    },
  }
}

export function createTextMessages(deps: TextsDeps) {
  const { outbox, sms, vault, clock, reaches } = deps
  const { settings, allowance, agreedNumber, wantsAlerts, hindrance } = createSmsRules(deps)

  const put = (
    { to, text, accountId, dedupe, purpose }: TextMessage,
    skipped?: string,
  ): string | undefined => {
    const line = headerLine(text, textCharactersMax)
    const sealed = () => Buffer.from(vault.seal(sealContext(dedupe), line)).toString('base64')
    const body: PostedText =
      purpose === 'verification' ? { to, sealed: sealed() } : { to, text: line }
    return outbox.put({
      kind: 'sms',
      lane: 'sms',
      eventId: dedupe,
      eventType: `sms.${purpose}`,
      accountId,
      body: JSON.stringify(body),
      ...(skipped !== undefined && { skipped }),
    })
  }

  return {
    settings,
    /** The allowance of the current calendar month, UTC. */
    allowance,
    /**
     * Whether a provider is configured; without one, messages end in the log and codes are not
     * created.
     */
    reaches,
    /** The account's own number when it is verified and opted in to messages of this type now. */
    alertNumber(accountId: string, alertType: string) {
      if (!wantsAlerts(accountId) || !settings(accountId).alertTypes.includes(alertType))
        return undefined
      return agreedNumber(accountId)
    },
    /**
     * Puts the message into the outbox, inside the caller's transaction. For an account: only when
     * its settings, plan and opt-in allow it. Returns the message's id, undefined when it is not
     * sent.
     */
    post(message: TextMessage) {
      const { accountId, purpose, to } = message
      if (purpose === 'verification' && !reaches) return undefined
      if (purpose !== 'verification') {
        if (agreedNumber(accountId) !== to || (purpose === 'alert' && !wantsAlerts(accountId)))
          return undefined
        const hindranceReason = purpose === 'alert' ? hindrance(accountId) : undefined
        const skipReason =
          hindranceReason ??
          (allowance(accountId).remaining === 0 ? 'The monthly allowance is used up.' : undefined)
        if (skipReason !== undefined) {
          put(message, skipReason)
          return undefined
        }
      }
      const id = put(message)
      if (id !== undefined)
        sms.record({ id, accountId, purpose, number: to, postedAt: clock.now() })
      return id
    },
  }
}
