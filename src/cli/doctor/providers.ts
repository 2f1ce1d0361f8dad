import type { Config } from '../../config/config.ts'
import { type Clock, within } from '../../lib/time/clock.ts'
import { isoInstant, secondMs } from '../../lib/time/instant.ts'
import type { BackupPlace } from '../../send/backups/places.ts'
import { smtpProbe } from '../../send/messages/mailer-smtp.ts'
import { type Probe, resendProbe, stripeProbe, twilioProbe } from '../../send/probes.ts'
import { placesOf } from '../backups/backups.ts'
import { doubtful, type Finding, faulty, fine, reasonOf, unreached } from './finding.ts'
import { tryIdentityProvider } from './identity-provider.ts'

const timeoutMs = 5 * secondMs

/** Signs in at each configured provider, all at the same time. Nothing is sent or changed. */
export async function tryProviders(config: Config, clock: Clock): Promise<Finding[]> {
  const [probed, signIn, backups] = await Promise.all([
    Promise.all([...configured(config)].map(tried)),
    tryIdentityProvider(config, clock, timeoutMs),
    Promise.all(placesOf(config).map(triedPlace)),
  ])
  return [...probed, ...signIn, ...backups]
}

/** Lists the backups in a place: the next scheduled one may be a day away. */
async function triedPlace({ label, list }: BackupPlace): Promise<Finding> {
  const unlisted = (reason: string) =>
    doubtful(
      'backups',
      `${label}: ${reason}`,
      'correct the settings of backups, or the storage; skip this check with --offline',
    )
  try {
    const stored = await within(timeoutMs, list())
    if (!stored) return unlisted('no response within five seconds')
    const newest = stored.at(-1)
    return newest
      ? fine('backups', `${label}: the newest is of ${isoInstant(newest.at)}`)
      : doubtful('backups', `${label} has no backup`, 'make one: wellhead backup')
  } catch (error) {
    return unlisted(reasonOf(error))
  }
}

async function tried({ check, provider, setting, probe }: ConfiguredProbe): Promise<Finding> {
  const handed = await probe(timeoutMs)
  if (handed.accepted) return fine(check, `${provider} accepts the connection and the credential`)
  const found = `${provider}: ${handed.reason.replace(/\.$/, '')}`
  return handed.fault === 'setting'
    ? faulty(check, found, `correct ${setting}`)
    : unreached(check, found)
}

interface ConfiguredProbe {
  check: string
  provider: string
  /** The setting with the credential. */
  setting: string
  probe: Probe
}

function* configured({ mail, sms, billing }: Config): Generator<ConfiguredProbe> {
  if (mail.provider === 'smtp')
    yield {
      check: 'mail',
      provider: 'the mail server',
      setting: 'mail.smtp_url',
      probe: smtpProbe(mail.smtpUrl.reveal()),
    }
  if (mail.provider === 'resend')
    yield {
      check: 'mail',
      provider: mail.provider,
      setting: 'mail.resend_key',
      probe: resendProbe(mail.resendUrl, mail.resendKey.reveal()),
    }
  if (sms.provider === 'twilio')
    yield {
      check: 'text messages',
      provider: sms.provider,
      setting: 'sms.twilio_account and sms.twilio_token',
      probe: twilioProbe(sms.twilioUrl, sms.twilioAccount, sms.twilioToken.reveal()),
    }
  if (billing.provider === 'stripe')
    yield {
      check: 'billing',
      provider: billing.provider,
      setting: 'billing.stripe_key',
      probe: stripeProbe(billing.stripeUrl, billing.stripeKey.reveal()),
    }
}
