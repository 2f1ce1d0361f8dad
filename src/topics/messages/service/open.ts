import { publicUrl } from '../../../config/address.ts'
import type { Runtime } from '../../../config/runtime.ts'
import type { Outbox } from '../../../outbox/outbox.ts'
import { createInboxStore, type InboxStore } from '../../../outbox/store/inbox.ts'
import { createProviderWatch } from '../../../send/provider-watch.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import { createNotificationStore, type NotificationStore } from '../store/notifications.ts'
import { createPhoneStore } from '../store/phones.ts'
import { createPreferenceStore, type PreferenceStore } from '../store/preferences.ts'
import { createRecipientStore } from '../store/recipients.ts'
import { createSmsStore, type SmsStore } from '../store/sms.ts'
import { createSuppressionStore, type SuppressionStore } from '../store/suppressions.ts'
import { createMail, type Mail } from './mail.ts'
import { createMailSender } from './mail-sender.ts'
import { createNotices, type Notices } from './notices.ts'
import { createPhones, type Phones } from './phones.ts'
import {
  mailerOf,
  type ProviderFaults,
  smsProviderOf,
  watchedMailer,
  watchedTexter,
} from './providers.ts'
import { createRecipients, type Recipients } from './recipients.ts'
import { createTextMessages, type TextMessages } from './sms.ts'
import { createSmsSender } from './sms-sender.ts'
import { createTrials, type Trials } from './trials.ts'

/** All messages to users: by e-mail, by text message, and in their own list here. */
export interface MessageServices {
  mail: Mail
  recipients: Recipients
  textMessages: TextMessages
  notices: Notices
  phones: Phones
  sms: SmsStore
  notifications: NotificationStore
  preferences: PreferenceStore
  suppressions: SuppressionStore
  inbox: InboxStore
  providerFaults: ProviderFaults
  /** Tests of the delivery channels. */
  trials: Trials
}

export interface MessageServicesDeps
  extends Pick<Runtime, 'db' | 'config' | 'ids' | 'log' | 'clock'> {
  masterKey: string
  outbox: Outbox
  keys: Keyring
  vault: Vault
}

/**
 * Puts the ways together that the configuration chooses, and registers them with the outbox. Throws
 * on a configuration that cannot work.
 */
export function openMessages(deps: MessageServicesDeps): MessageServices {
  const { db, config, clock, ids, outbox, keys, vault } = deps
  const inbox = createInboxStore(db)
  const suppressions = createSuppressionStore(db)
  const notifications = createNotificationStore(db)
  const preferences = createPreferenceStore(db)
  const sms = createSmsStore(db)
  const phoneStore = createPhoneStore(db)
  const recipients = createRecipients({
    store: createRecipientStore(db),
    keys,
    limits: {
      mailMessages: config.mail.lettersPerDay,
      toUnverifiedRecipient: config.mail.lettersToStrangerPerDay,
      strangers: config.mail.strangersPerDay,
    },
    confirmsRecipients: config.mail.strangersAgree,
    masterKey: deps.masterKey,
    clock,
  })
  const mailWatch = createProviderWatch('email', deps.log)
  const textWatch = createProviderWatch('sms', deps.log)
  const ownMailer = mailerOf({ ...deps, inbox })
  const ownTexter = smsProviderOf({ ...deps, inbox })
  // Without a provider every message fails, which is a setting and no fault.
  const mailer = config.mail.provider === 'none' ? ownMailer : watchedMailer(ownMailer, mailWatch)
  const texter = watchedTexter(ownTexter, textWatch)
  const reaches = config.sms.provider !== 'log'
  const textMessages = createTextMessages({
    outbox,
    sms,
    phones: phoneStore,
    preferences,
    keys,
    vault,
    clock,
    reaches,
  })
  outbox.register('email', createMailSender({ mailer, vault, suppressions, clock }))
  outbox.register(
    'sms',
    createSmsSender({
      texter,
      phones: phoneStore,
      vault,
      clock,
      reaches,
    }),
  )
  // A text message that failed does not count against the account.
  outbox.listen('sms', ({ id, state }) => {
    if (state === 'failed') sms.fail(id)
  })
  return {
    mail: createMail({
      outbox,
      vault,
      suppressions,
      recipients,
      baseUrl: publicUrl(config.server),
      serviceName: config.brand.serviceName,
      sender: config.brand.sender,
      reaches: config.mail.provider !== 'none',
      clock,
      ids,
    }),
    recipients,
    textMessages,
    notices: createNotices(notifications, ids),
    phones: createPhones({
      db,
      phones: phoneStore,
      sms,
      textMessages,
      clock,
      ids,
      log: deps.log,
      masterKey: deps.masterKey,
      serviceName: config.brand.serviceName,
      codesPerDay: config.sms.codesPerDay,
    }),
    sms,
    notifications,
    preferences,
    suppressions,
    inbox,
    providerFaults: { email: mailWatch.fault, sms: textWatch.fault },
    trials: createTrials({ config, mailer, texter, clock, ids }),
  }
}
