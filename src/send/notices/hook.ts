import { isoInstant } from '../../lib/time/instant.ts'

export type NoticeFormat = 'json' | 'slack' | 'ntfy'

export interface Notice {
  operatorAlert: string
  kind: 'begun' | 'again' | 'over' | 'test'
  text: string
  /** Since when (Unix ms). */
  since: number
  at: number
}

const timeoutMs = 10_000
const heads = { begun: '', again: 'Still: ', over: 'Resolved: ', test: '' } as const

const lineOf = ({ kind, text }: Notice) => `${heads[kind]}${text}`

/** For display: one line, or a count followed by a list. */
export const noticeText = (service: string, notices: readonly Notice[]): string =>
  notices.length === 1
    ? `${service}: ${lineOf(notices[0]!)}`
    : [`${service}: ${notices.length} notices`, ...notices.map(each => `- ${lineOf(each)}`)].join(
        '\n',
      )

/**
 * Posts notices to an address of the operator's own; rejects where one is not taken. People get
 * those of a pass as one message; `json` is for programs, which get a request for each.
 */
export const noticeHook = (url: string, format: NoticeFormat, service: string) => {
  const post = async (init: { body: string; headers: Record<string, string> }) => {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...init,
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the server returned ${response.status}`)
  }
  const postJson = (body: unknown) =>
    post({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  return {
    label: `${format} webhook`,
    async send(notices: readonly Notice[]): Promise<void> {
      if (format === 'json') {
        const sent = await Promise.allSettled(
          notices.map(notice =>
            postJson({
              service,
              operator_alert: notice.operatorAlert,
              // Programs of earlier versions read it under this name.
              matter: notice.operatorAlert,
              kind: notice.kind,
              text: notice.text,
              since: isoInstant(notice.since),
              at: isoInstant(notice.at),
            }),
          ),
        )
        const lost = sent.find(outcome => outcome.status === 'rejected')
        if (lost) throw lost.reason
        return
      }
      const text = noticeText(service, notices)
      if (format === 'slack') return postJson({ text })
      const isOver = notices.every(({ kind }) => kind === 'over')
      await post({
        body: text,
        headers: { title: service, tags: isOver ? 'white_check_mark' : 'warning' },
      })
    },
  }
}
