import { isoInstant } from '../../lib/time/instant.ts'

export type NoticeFormat = 'json' | 'slack' | 'ntfy'

interface Sent {
  matter: string
  kind: 'begun' | 'again' | 'over' | 'test'
  text: string
  since: number
  at: number
}

const timeoutMs = 10_000
const heads = { begun: '', again: 'Still: ', over: 'Over: ', test: '' } as const

/** One line for people. */
export const noticeText = (service: string, { kind, text }: Sent): string =>
  `${service}: ${heads[kind]}${text}`

/** Posts notices to an address of the operator's own; rejects where it is not taken. */
export const noticeHook = (url: string, format: NoticeFormat, service: string) => ({
  label: `${format} webhook`,
  async send(notice: Sent): Promise<void> {
    const text = noticeText(service, notice)
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...(format === 'ntfy'
        ? {
            body: text,
            headers: {
              title: service,
              tags: notice.kind === 'over' ? 'white_check_mark' : 'warning',
            },
          }
        : {
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(
              format === 'slack'
                ? { text }
                : {
                    service,
                    matter: notice.matter,
                    kind: notice.kind,
                    text: notice.text,
                    since: isoInstant(notice.since),
                    at: isoInstant(notice.at),
                  },
            ),
          }),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it was answered with ${response.status}`)
  },
})
