import { megabyte } from '../../lib/files/free-space.ts'
import { dayMs, isoInstant, minuteMs } from '../../lib/time/instant.ts'
import type { SendingState } from '../../outbox/vitals.ts'
import { unpublishedSince } from '../../replication/service/condition.ts'
import { certificateEnd } from '../../send/notices/certificate.ts'
import { noticeHook, noticeText } from '../../send/notices/hook.ts'
import { workerFaultText } from '../../topics/condition/service/condition.ts'
import type { QueryWorkers, Vitals } from '../../topics/condition/service/vitals.ts'
import { spentKeys } from '../../topics/keys/service/spent-keys.ts'
import { createCertificateWatch } from '../../topics/operator/service/certificate.ts'
import {
  createOperatorNotices,
  type NoticePlace,
  type OperatorAlert,
  type OperatorNotices,
  type QuietHours,
} from '../../topics/operator/service/notices.ts'
import { damageText } from '../../topics/operator/service/scrub.ts'
import { failureText } from '../../topics/prices/service/exports/price-files.ts'
import type { Services } from './services.ts'

/** Messages that are overdue by this much raise an alert. */
const behindMs = 15 * minuteMs
const failuresMax = 3
/** Endpoints that are listed; more of them would add no information. */
const switchedOffMax = 20
/** Keys with a used-up quota that are listed; more of them would add no information. */
const spentMax = 20
/** Plans that run without their payment; likewise. */
const unpaidMax = 20
/** Accounts that stay outside of the organization that they belong in; likewise. */
const apartMax = 20
/** Codes that have stopped, are frozen, or have changed their unit; likewise. */
const faultsMax = 20
/** A certificate that ends sooner is near its end: renewals come earlier. */
const certificateMs = 14 * dayMs

/**
 * All current alerts for the operator; `sending` is the sender in this process, if there is one.
 */
export const operatorAlertsOf = (
  services: Services,
  sending?: SendingState,
  workers?: QueryWorkers,
): OperatorAlert[] => [
  ...serviceAlerts(services, sending, workers),
  ...dataAlerts(services),
  ...accountAlerts(services),
]

function* serviceAlerts(
  services: Services,
  sending: SendingState | undefined,
  workers: QueryWorkers | undefined,
): Generator<OperatorAlert> {
  const { disk, backupRecord, scrub, feeds, outbox, webhooks, clock, config } = services
  const fault = disk.fault()
  if (fault) yield { id: 'writes', text: `writes are refused: ${fault.reason}`, urgent: true }
  const damage = damageText(scrub.status())
  if (damage !== undefined)
    yield {
      id: 'pages',
      text: `${damage} The log names the pages; run verify, and restore a backup`,
      urgent: true,
    }
  if (workers?.fault)
    yield {
      id: 'query workers',
      text: `${workerFaultText(workers.fault)}. History and analytics are slow or fail`,
    }
  for (const [provider, fault] of providersOf(services))
    yield { id: `provider ${provider}`, text: `the provider of ${provider} fails: ${fault}` }
  const free = disk.freeBytes()
  if (free !== undefined && free < config.notices.diskFreeMb * megabyte)
    yield {
      id: 'disk',
      text: `less than ${config.notices.diskFreeMb} MB are left on the disk of the data`,
    }
  if (backupRecord.get().fault !== undefined)
    yield { id: 'backup', text: 'the last scheduled backup failed; the log says why' }
  const [missed, ...others] = services.priceFiles.failures()
  if (missed)
    yield {
      id: 'price files',
      text: failureText(missed) + (others.length > 0 ? `; and ${others.length} more` : ''),
    }
  for (const { feed, state, consecutiveFailures, expectedBy } of feeds.active()) {
    const { name } = feed.publisher
    if (consecutiveFailures >= failuresMax)
      yield {
        id: `feed ${name} failing`,
        text: `feed ${name} has failed ${failuresMax} times in a row or more`,
      }
    else if (state === 'late')
      yield {
        id: `feed ${name} late`,
        text: `feed ${name} should have brought something new${expectedBy === undefined ? '' : ` by ${isoInstant(expectedBy)}`}`,
      }
  }
  for (const run of feeds.notedSince(clock.now() - dayMs))
    for (const { code, message } of run.notes)
      yield {
        id: `feed ${run.feed} ${code} ${run.id} ${message.split(' ')[0]}`,
        text: `feed ${run.feed}: ${message}`,
        passing: true,
      }
  for (const [kind, oldestAt] of outbox.vitals().kinds) {
    // A webhook that waits only because its own receiver fails does not count as behind.
    const dueAt = kind === 'webhook' && sending ? sending.waitingSince(kind) : oldestAt
    if (dueAt !== undefined && clock.now() - dueAt > behindMs)
      yield { id: `outbox ${kind}`, text: `messages by ${kind} wait since ${isoInstant(dueAt)}` }
  }
  for (const { id, url } of webhooks.switchedOff(switchedOffMax))
    yield {
      id: `endpoint ${id}`,
      text: `a webhook endpoint was switched off after failing again and again: ${hostOf(url)}`,
    }
}

/** Failing providers, with their errors. */
const providersOf = ({ providerFaults, billing }: Services): [string, string][] => {
  const faults = {
    'e-mail': providerFaults.email(),
    'text messages': providerFaults.sms(),
    payments: billing.fault(),
  }
  return Object.entries(faults).flatMap(([name, fault]): [string, string][] =>
    fault === undefined ? [] : [[name, fault]],
  )
}

function* dataAlerts(services: Services): Generator<OperatorAlert> {
  const { freshness, flaggedValues, seriesFaults, catalogue } = services
  for (const { name, status, lastObservationAt } of freshness.feeds())
    if (status === 'stale' && freshness.feedCameFresh(name))
      yield {
        id: `data ${name} stopped`,
        text: `nothing new comes of ${name}${lastObservationAt === undefined ? '' : ` since ${isoInstant(lastObservationAt)}`}`,
      }
  const { stoppedAlone, frozen, broken } = seriesFaults.codes()
  // A series of a loaded archive is not expected to continue.
  const wentOn = (code: string) => {
    const series = catalogue.named(code)
    return series !== undefined && freshness.cameFresh(series)
  }
  for (const code of stoppedAlone.filter(wentOn).slice(0, faultsMax))
    yield { id: `series ${code} stopped`, text: `no value of ${code} comes any more` }
  for (const code of frozen.filter(wentOn).slice(0, faultsMax))
    yield { id: `series ${code} frozen`, text: `${code} has not moved for too long` }
  for (const code of broken.slice(0, faultsMax))
    yield { id: `series ${code} unit`, text: `${code} seems to have changed its unit` }
  const waiting = flaggedValues.total({ status: 'waiting' })
  if (waiting > 0)
    yield {
      id: 'held',
      text: `${waiting} ${waiting === 1 ? 'value that looked wrong waits' : 'values that looked wrong wait'} for a decision: wellhead review list`,
    }
}

function* accountAlerts(services: Services): Generator<OperatorAlert> {
  const { keys, signInPlaces, billing, company, organizationStore } = services
  for (const key of spentKeys(services, spentMax))
    yield {
      id: `quota ${key.key.id}`,
      text: `${key.account.account.email} has exhausted the quota of a key and was notified`,
    }
  const emailOf = (accountId: string) => keys.account(accountId)?.account.email ?? accountId
  const returned = Map.groupBy(billing.invoices.returned(unpaidMax), invoice => invoice.accountId)
  for (const [accountId, invoices] of returned) {
    const email = emailOf(accountId)
    const numbers = invoices.map(({ number }) => number).join(', ')
    const payments = invoices.length === 1 ? 'payment of invoice' : 'payments of invoices'
    yield {
      id: `returned ${accountId}`,
      text: `the ${payments} ${numbers} of ${email} ${invoices.length === 1 ? 'was' : 'were'} returned, and the plan continues. To end it: wellhead subscriptions cancel ${email} --now`,
    }
  }
  for (const { accountId, isSubscribed } of company?.apart(apartMax) ?? []) {
    const email = emailOf(accountId)
    yield {
      id: `apart ${accountId}`,
      text: isSubscribed
        ? `${email} signs in with the company account and stays outside of its organization, because the account has its own subscription. To let it join: wellhead subscriptions cancel ${email}`
        : `${email} signs in with the company account and stays outside of its organization, because the account belongs to another organization`,
    }
  }
  for (const { accountId } of organizationStore.payingMembers(apartMax)) {
    const email = emailOf(accountId)
    yield {
      id: `paying member ${accountId}`,
      text: `${email} is a member of an organization, and is still charged for its own subscription, which it cannot see. To end it: wellhead subscriptions cancel ${email}`,
    }
  }
  for (const { accountId, place, at } of signInPlaces.recent())
    yield {
      id: `sign-in ${accountId} ${place}`,
      text: `${keys.account(accountId)?.account.email ?? 'somebody'} signed in from a new place, ${place}, at ${isoInstant(at)}`,
      passing: true,
    }
}

const hostOf = (url: string) => URL.parse(url)?.host ?? 'an address'

/** Notices of an instance to the places that its configuration names. */
export function openNotices(
  services: Services,
  sending: SendingState,
  vitals: () => Pick<Vitals, 'queryWorkers' | 'replication' | 'lateReplicas'>,
): OperatorNotices {
  const { config, mail, ids, settings, clock, log } = services
  const { notices, brand } = config
  const url = notices.url.reveal()
  const service = brand.serviceName
  const places: NoticePlace[] = [
    ...(url === '' ? [] : [noticeHook(url, notices.format, service)]),
    ...(notices.mail === ''
      ? []
      : [
          {
            label: 'mail',
            async send(gathered: Parameters<NoticePlace['send']>[0]) {
              const text = noticeText(service, gathered)
              const since = Math.min(...gathered.map(notice => notice.since))
              mail.post({
                to: notices.mail,
                subject: text.split('\n', 1)[0]!.slice(0, 120),
                text: `${text}\n\nSince ${isoInstant(since)}.\n`,
                accountId: null,
                dedupe: ids.uuid(),
              })
            },
          },
        ]),
  ]
  const { baseUrl } = config.server
  const certificate = baseUrl.startsWith('https:')
    ? createCertificateWatch({
        url: baseUrl,
        readEnd: () => certificateEnd(baseUrl),
        settings,
        clock,
        log,
      })
    : undefined
  const operatorNotices = createOperatorNotices({
    operatorAlerts: () => [
      ...operatorAlertsOf(services, sending, vitals().queryWorkers()),
      ...replicationAlerts(vitals(), clock.now()),
      ...certificateAlerts(certificate?.endsAt(), clock.now()),
    ],
    places,
    settings,
    clock,
    log,
    againMs: notices.againMs,
    quiet: quietOf(notices.quiet),
  })
  return {
    pass() {
      certificate?.pass()
      operatorNotices.pass()
    },
    async settled() {
      await certificate?.settled()
      await operatorNotices.settled()
    },
  }
}

/** Alerts about replication: unpublished changes and late replicas. */
export function replicationAlerts(
  { replication, lateReplicas }: Pick<Vitals, 'replication' | 'lateReplicas'>,
  now: number,
): OperatorAlert[] {
  const since = unpublishedSince(replication(), now)
  const operatorAlerts: OperatorAlert[] = lateReplicas().map(({ name, stale, why }) => ({
    // Another reason is another alert: its notice is not lost while the first one lasts.
    id: `replica ${name} ${stale}`,
    text: `the replica ${name} ${why}`,
  }))
  if (since !== undefined)
    operatorAlerts.push({
      id: 'publishing',
      text: `commits are not published to NATS since ${isoInstant(since)}; the log says why`,
    })
  return operatorAlerts
}

/** `endsAt` is undefined where there is no certificate, or no one knows. */
export function certificateAlerts(endsAt: number | undefined, now: number): OperatorAlert[] {
  if (endsAt === undefined || endsAt - now > certificateMs) return []
  const has = endsAt > now ? 'ends' : 'ended'
  return [
    {
      id: 'certificate',
      text: `the certificate of server.base_url ${has} at ${isoInstant(endsAt)}`,
      urgent: endsAt <= now,
    },
  ]
}

/** `22:00-07:00`; undefined: no hour is quiet. */
export function quietOf(text: string): QuietHours | undefined {
  const parts = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text)
  if (!parts) return undefined
  const [fromHour, fromMinute, toHour, toMinute] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ]
  return { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute }
}
