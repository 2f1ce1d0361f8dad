import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CapturedMessage } from '../../../topics/operator/operations/evaluation/dev-log.ts'
import { Empty, Shown, Tag } from '../../parts/bits.tsx'
import { Button, Copy } from '../../parts/buttons.tsx'
import { Choice, SearchField } from '../../parts/fields.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { saveBlob } from '../../parts/save.ts'
import { sets } from '../../parts/text/form.ts'
import { instant } from '../../parts/text/format.ts'

interface Message extends CapturedMessage {
  letter_url: string | null
}

type View = 'letter' | 'text' | 'source'

/** E-mails and text messages that would have been sent, as their recipient would see them. */
export function Inbox() {
  const answer = useOperator<{ messages: Message[] }>('/_dev/inbox')
  const chosen = useSignal<number | undefined>(undefined)
  const words = useSignal('')
  useRepeated(true, answer.reload)
  const newest = answer.data?.messages.at(-1)?.id
  // New messages join the list and do not replace the open one.
  useEffect(() => {
    chosen.value ??= newest
  }, [newest])
  return (
    <section class="card flush" aria-labelledby="inbox">
      <header>
        <h2 id="inbox">Captured messages</h2>
        <SearchField label="Words or an address" placeholder="person@example.com" of={words} />
      </header>
      <Shown of={answer} what="messages">
        {({ messages }) => {
          const wanted = words.value.toLowerCase()
          const matching = messages
            .toReversed()
            .filter(({ to, subject, text }) =>
              `${to} ${subject ?? ''} ${text}`.toLowerCase().includes(wanted),
            )
          const message = matching.find(({ id }) => id === chosen.value) ?? matching[0]
          if (messages.length === 0)
            return (
              <Empty>
                <p>
                  No messages yet. Request a <a href="/sign-in">link to sign in</a>, or play{' '}
                  <a href="/desk">payment failing</a>: messages that would be sent are captured
                  here.
                </p>
              </Empty>
            )
          if (!message) return <Empty>No matching messages.</Empty>
          return (
            <div class="mailbox">
              <ul class="plain" aria-label="Messages">
                {matching.map(({ id, channel, to, subject, text, at }) => (
                  <li key={id}>
                    <button
                      type="button"
                      aria-current={id === message.id}
                      onClick={sets(chosen, id)}
                    >
                      <span class="row spread">
                        <span class="quiet small break">{to}</span>
                        {channel === 'sms' && <Tag>text</Tag>}
                      </span>
                      <span class="subject">{subject ?? text}</span>
                      <span class="quiet small">{instant(at)}</span>
                    </button>
                  </li>
                ))}
              </ul>
              <Reader key={message.id} {...message} />
            </div>
          )
        }}
      </Shown>
    </section>
  )
}

function Reader(message: Message) {
  const { channel, to, subject, text, html, letter_url: url, attachments, at } = message
  const view = useSignal<View>(url === null ? 'text' : 'letter')
  return (
    <article class="stack" aria-label="Message">
      <div class="row spread">
        <h3>{subject ?? 'Text message'}</h3>
        {url !== null && (
          <Choice<View>
            label="Shown as"
            of={view}
            options={[
              { value: 'letter', text: 'E-mail' },
              { value: 'text', text: 'Text' },
              { value: 'source', text: 'Source' },
            ]}
          />
        )}
      </div>
      <p class="quiet small">
        to <span class="break">{to}</span>, {instant(at)}
      </p>
      {view.value === 'letter' && url !== null && (
        // The frame runs no scripts and makes no requests; links open in a new window.
        <iframe
          class="letter"
          title={`E-mail: ${subject ?? to}`}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          src={url}
        />
      )}
      {view.value === 'text' &&
        (channel === 'sms' ? (
          <p class="bubble">{text}</p>
        ) : (
          <div class="paper">
            <Linked text={text} />
          </div>
        ))}
      {view.value === 'source' && html !== null && (
        <>
          <pre class="wrap">{html}</pre>
          <div class="row">
            <Copy text={html} label="Copy the source" className="tight" />
          </div>
        </>
      )}
      {attachments.length > 0 && (
        <ul class="plain row" aria-label="Attachments">
          {attachments.map(file => (
            <li key={file.filename}>
              <Button className="tight" label={file.filename} onClick={() => saveFile(file)} />
            </li>
          ))}
        </ul>
      )}
    </article>
  )
}

const address = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/

/** A text with its addresses as links. */
function Linked({ text }: { text: string }) {
  return (
    <>
      {text.split(address).map((part, i) =>
        i % 2 === 1 ? (
          <a key={String(i)} href={part} target="_blank" rel="noreferrer">
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </>
  )
}

function saveFile({ filename, content, encoding }: Message['attachments'][number]): void {
  const bytes =
    encoding === 'base64'
      ? Uint8Array.from(atob(content), character => character.charCodeAt(0))
      : new TextEncoder().encode(content)
  // Never with its real type: an HTML attachment would run in this origin.
  saveBlob(filename, new Blob([bytes], { type: 'application/octet-stream' }))
}
