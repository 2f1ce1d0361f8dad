import type { Database } from 'bun:sqlite'
import type { Config } from '../../config.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { type NotificationStore, notificationStore } from '../../store/messages/notifications.ts'
import { phoneStore } from '../../store/messages/phones.ts'
import { type PreferenceStore, preferenceStore } from '../../store/messages/preferences.ts'
import { type SmsStore, smsStore } from '../../store/messages/sms.ts'
import { type SuppressionStore, suppressionStore } from '../../store/messages/suppressions.ts'
import { type InboxStore, inboxStore } from '../../store/outbox/inbox.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Vault } from '../keys/vault.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { type Mail, mail } from './mail.ts'
import { mailSender } from './mail-sender.ts'
import { type Notices, notices } from './notices.ts'
import { type Phones, phones } from './phones.ts'
import { mailerOf, texterOf } from './providers.ts'
import { type Texts, texts } from './sms.ts'
import { textSender } from './sms-sender.ts'

/** Everything that is said to people: by mail, by text message, and in their own list here. */
export interface Messages {
  mail: Mail
  texts: Texts
  notices: Notices
  phones: Phones
  sms: SmsStore
  notifications: NotificationStore
  preferences: PreferenceStore
  suppressions: SuppressionStore
  inbox: InboxStore
}

export interface MessagesDeps {
  db: Database
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  masterKey: string
  outbox: Outbox
  keys: Keyring
  vault: Vault
}

/**
 * Puts the ways together that the configuration chooses, and registers them with the outbox. Throws
 * on a configuration that can not work.
 */
export function messages(deps: MessagesDeps): Messages {
  const { db, config, clock, ids, outbox, keys, vault } = deps
  const inbox = inboxStore(db)
  const suppressions = suppressionStore(db)
  const notifications = notificationStore(db)
  const preferences = preferenceStore(db)
  const sms = smsStore(db)
  const numbers = phoneStore(db)
  const reaches = config.sms.provider !== 'log'
  const written = texts({ outbox, sms, phones: numbers, preferences, keys, vault, clock, reaches })
  outbox.register(
    'email',
    mailSender({ mailer: mailerOf({ ...deps, inbox }), vault, suppressions, clock }),
  )
  outbox.register(
    'sms',
    textSender({ texter: texterOf({ ...deps, inbox }), phones: numbers, vault, clock, reaches }),
  )
  // What was not sent after all is not held against the account.
  outbox.listen('sms', ({ id, state }) => {
    if (state === 'failed') sms.fail(id)
  })
  return {
    mail: mail({ outbox, vault, suppressions, sender: config.brand.sender, clock }),
    texts: written,
    notices: notices(notifications, ids),
    phones: phones({
      db,
      phones: numbers,
      sms,
      texts: written,
      clock,
      ids,
      masterKey: deps.masterKey,
      serviceName: config.brand.serviceName,
    }),
    sms,
    notifications,
    preferences,
    suppressions,
    inbox,
  }
}
