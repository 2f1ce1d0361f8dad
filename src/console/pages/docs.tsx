import { type Signal, useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { withParametersInPlace } from '../../http/openapi/parameters.ts'
import type { Guide } from '../guides/guide.ts'
import { markdownWith } from '../guides/markdown.ts'
import {
  Button,
  Copy,
  Input,
  Page,
  Refused,
  Shown,
  Submit,
  save,
  Tag,
  Waiting,
} from '../parts/bits.tsx'
import { calls, loadCalls, type NamedCall } from '../parts/frame/calls.ts'
import { keepKey, ownKey } from '../parts/person/own-key.ts'
import { ask, once, parsedText, useAttempt, useLoaded } from '../parts/requests/ask.ts'
import { boot } from '../parts/requests/boot.ts'
import { match } from '../parts/requests/codes.ts'
import { loadGuides, loadGuideWords, matchingPlaces } from '../parts/requests/guides.ts'
import { type Call, Samples } from '../parts/samples.tsx'
import { bound, submits } from '../parts/text/form.ts'
import { words } from '../parts/text/format.ts'
import { operationPath } from '../paths.ts'
import { brunoCollection, type Collection, postmanCollection } from './docs/collections.ts'
import {
  bodyOf,
  credentialOf,
  exampleOfParameter,
  headerName,
  isSampled,
  type Listed,
  listedOf,
  type OpenApi,
  type Operation,
  type Parameter,
  resolved,
  type Schema,
} from './docs/document.ts'
import { Field } from './docs/field.tsx'
import { GuideText } from './guide.tsx'

const loadDocument = once(async () => withParametersInPlace(await ask<OpenApi>('/openapi.json')))

/** A call as the list shows it, before its details are loaded. */
const listedCall = ({ id, method, path, tag = 'other', summary }: NamedCall): Listed => ({
  id,
  method,
  path,
  tag,
  operation: { operationId: id, summary, responses: {} },
})

/** Guides, and the reference made from the document that programs read. */
export function Docs() {
  const { params } = useRoute()
  const loaded = useLoaded('guides', loadGuides)
  const guide = loaded.data?.find(({ name }) => name === params.guide)
  const typed = useSignal('')
  const isSearching = typed.value.trim() !== ''
  const { url, query } = useLocation()
  const id = query.operation ?? ''
  const part = useLoaded(
    params.guide === undefined ? `operation ${id}` : undefined,
    async signal => ({
      of: id,
      document: withParametersInPlace(await ask<OpenApi>(operationPath(id), { signal })),
    }),
  )
  useLoaded(params.guide === undefined ? 'calls' : undefined, loadCalls)
  // Only a search reads every description, which are most of the document.
  const document = useLoaded(isSearching ? 'document' : undefined, loadDocument)
  const found = useLoaded(isSearching ? 'words' : undefined, loadGuideWords)
  // After following a search result, the next page shows the whole list again.
  useEffect(() => {
    typed.value = ''
  }, [url])
  return (
    <Page
      key={params.guide ?? ''}
      title={guide?.title ?? 'Documentation'}
      about={
        guide ? (
          <span dangerouslySetInnerHTML={{ __html: guide.about }} />
        ) : (
          <>
            Tutorials, how-to guides, explanations, and the reference of every operation from{' '}
            <a href="/openapi.json" rel="external">
              openapi.json
            </a>
            , also{' '}
            <a href="/swagger" rel="external">
              as Swagger UI
            </a>{' '}
            and for <Download make={postmanCollection} text="Postman" /> and{' '}
            <Download make={brunoCollection} text="Bruno" />.
          </>
        )
      }
    >
      {[found, document].map(
        ({ refusal }) => refusal && <Refused key={refusal.message} error={refusal} />,
      )}
      <div class="reference">
        <Sidebar
          document={document.data}
          guides={loaded.data ?? []}
          guide={params.guide}
          typed={typed}
        />
        {params.guide === undefined ? (
          <div class="stack content">
            <Shown of={part} what="the reference">
              {({ of, document: known }) =>
                of === id ? <Reference document={known} /> : <Waiting what="the reference" />
              }
            </Shown>
          </div>
        ) : (
          <Shown of={loaded} what="the page">
            {all =>
              guide ? (
                <GuideText key={guide.name} guide={guide} all={all} />
              ) : (
                <p>
                  This page does not exist. See the{' '}
                  <a href="/docs/index">index of the documentation</a>.
                </p>
              )
            }
          </Shown>
        )}
      </div>
    </Page>
  )
}

/** Saves the document as the collection of a program that sends requests. */
function Download({
  make,
  text,
}: {
  make: (document: OpenApi, baseUrl: string) => Collection
  text: string
}) {
  const { refusal, attempt } = useAttempt()
  return (
    <>
      <Button
        className="link"
        label={text}
        onClick={() =>
          attempt(async () => {
            const file = make(await loadDocument(), location.origin)
            save(file.name, 'application/json', file.text)
          })
        }
      />
      {refusal.value && <Refused error={refusal.value} />}
    </>
  )
}

/** A wide window has room for the list next to the text; above the text it would be in the way. */
const isWide = matchMedia('(min-width: 60rem)').matches

const matchesMax = 60
const placesMax = 6

/** The operations that match a typed text, best first; all of them without one. */
function matchingOperations(operations: readonly Listed[], typed: string): readonly Listed[] {
  if (typed.trim() === '') return operations
  return operations
    .map(listed => {
      const { summary, description = '', parameters = [] } = listed.operation
      const head = `${summary} ${listed.path} ${listed.id}`
      const rest = `${description} ${parameters.map(parameter => `${parameter.name} ${parameter.description ?? ''}`).join(' ')}`
      return {
        listed,
        score: match(head, typed) * 10 || match(`${head} ${rest}`, typed),
      }
    })
    .filter(({ score }) => score !== 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, matchesMax)
    .map(({ listed }) => listed)
}

function Sidebar({
  document,
  guides,
  guide,
  typed,
}: {
  document: OpenApi | undefined
  guides: readonly Guide[]
  guide: string | undefined
  typed: Signal<string>
}) {
  const { query } = useLocation()
  const operations = useMemo(
    () => (document ? listedOf(document) : calls.value.map(listedCall)),
    [document, calls.value],
  )
  const isSearching = typed.value.trim() !== ''
  const shown = useMemo(
    () => matchingOperations(operations, typed.value),
    [operations, typed.value],
  )
  const places = isSearching ? matchingPlaces(typed.value, placesMax) : []
  const groups = [...Map.groupBy(shown, ({ tag }) => tag)]
  const listed = guides.filter(({ section }) => section !== '')
  const sections = [...Map.groupBy(listed, ({ section }) => section)]
  const lists = (
    <>
      {isSearching
        ? places.length > 0 && (
            <ul aria-label="Pages">
              {places.map(({ href, title, heading }) => (
                <li key={href}>
                  <a href={href}>
                    {title}
                    {heading && <span class="quiet"> · {heading}</span>}
                  </a>
                </li>
              ))}
            </ul>
          )
        : sections.map(([section, pages]) => (
            <Group
              key={section}
              title={section}
              links={pages.map(({ name, title }) => ({
                href: `/docs/${name}`,
                text: title,
                isCurrent: name === guide,
              }))}
              isOpen={
                guide === undefined && query.operation === undefined && section === sections[0]![0]
              }
            />
          ))}
      {operations.length === 0 && !isSearching && <a href="/docs">API reference</a>}
      {groups.map(([tag, part]) => (
        <Group
          key={tag}
          title={words(tag)}
          links={part.map(({ id, method, operation }) => ({
            href: `/docs?operation=${encodeURIComponent(id)}`,
            text: operation.summary,
            isCurrent: id === query.operation,
            ...(method !== 'GET' && { method }),
          }))}
          isSearched={isSearching}
        />
      ))}
    </>
  )
  return (
    <nav class="stack" aria-label="Documentation">
      <Input
        label="Search the documentation"
        type="search"
        placeholder="RSI, rig count, as_of …"
        {...bound(typed)}
      />
      {!isSearching && <OwnKey label="Your API key, for the samples" />}
      {isSearching && document && shown.length + places.length === 0 && (
        <p class="quiet" role="status">
          No results.
        </p>
      )}
      {isWide || isSearching ? (
        lists
      ) : (
        <details>
          <summary>
            <strong>Contents</strong>
          </summary>
          {lists}
        </details>
      )}
    </nav>
  )
}

interface GroupProps {
  title: string
  links: { href: string; text: string; isCurrent: boolean; method?: string }[]
  /** Open where the window is wide; with a link to the page itself it always is. */
  isOpen?: boolean
  /** Its links are what a search has found. */
  isSearched?: boolean
}

/** Some links under a heading that is folded. */
const Group = ({ title, links, isOpen, isSearched }: GroupProps) => (
  <details open={isSearched || (isWide && (isOpen || links.some(({ isCurrent }) => isCurrent)))}>
    <summary>
      <strong>{title}</strong> <span class="quiet small">{links.length}</span>
    </summary>
    <ul>
      {links.map(({ href, text, isCurrent, method }) => (
        <li key={href}>
          <a href={href} aria-current={isCurrent ? 'page' : undefined}>
            {method && <span class="code">{method} </span>}
            {text}
          </a>
        </li>
      ))}
    </ul>
  </details>
)

/** The key that all samples are shown with and trial calls are made with. */
const OwnKey = ({ label }: { label: string }) => (
  <Input
    label={label}
    type="password"
    autocomplete="off"
    spellcheck={false}
    placeholder="kept in this tab only"
    value={ownKey.value}
    onInput={event => keepKey(event.currentTarget.value)}
  />
)

function Reference({ document }: { document: OpenApi }) {
  const { query } = useLocation()
  const chosen = useMemo(
    () => listedOf(document).find(({ id }) => id === query.operation),
    [document, query.operation],
  )
  return chosen ? (
    <One key={chosen.id} listed={chosen} document={document} />
  ) : (
    <Introduction document={document} />
  )
}

/** Where the advice of a refusal is read: it links to `/docs#batch`. */
const placesOfAdvice: Readonly<Record<string, string>> = {
  batch: '/docs/paging#many-codes-now',
  'conditional-requests': '/docs/paging#poll-with-etags',
  subscriptions: '/docs?operation=createWatch',
  'scheduled-deliveries': '/docs?operation=createScheduledDelivery',
}

/** The description of the error code in an address such as `/docs#UNAUTHORIZED`. */
function errorInAddress(description: string) {
  const code = decodeURIComponent(location.hash.slice(1))
  const line = description.split('\n').find(row => row.startsWith(`| <a id="${code}"></a>`))
  const [status, retry, when] = line?.split('|').slice(2, 5) ?? []
  return when === undefined
    ? undefined
    : { code, status: status!.trim(), isRetryable: retry!.trim() === 'yes', when: when.trim() }
}

function Introduction({ document }: { document: OpenApi }) {
  const { route } = useLocation()
  const place = placesOfAdvice[location.hash.slice(1)]
  useEffect(() => {
    if (place !== undefined) route(place, true)
  }, [place, route])
  const error = errorInAddress(document.info.description ?? '')
  return (
    <>
      {error && (
        <section class="card">
          <h2>
            The error <code>{error.code}</code>
          </h2>
          <p>
            <Tag mood="bad">{error.status}</Tag> <Inline text={error.when} />
          </p>
          <p>
            {error.isRetryable
              ? 'Retrying the same request can succeed. '
              : 'Retrying the same request fails again. '}
            <code>message</code> explains what is wrong and what is expected, and other fields give
            details. Branch on the code, which does not change.{' '}
            <a href="/docs/errors">Error handling</a>
          </p>
        </section>
      )}
      <section class="card" aria-labelledby="first">
        <h2 id="first">First request</h2>
        <Samples call={{ method: 'GET', path: '/v1/prices/latest?by_code=BRENT_CRUDE_USD' }} />
        <p>
          New here? The <a href="/docs/quickstart">quickstart</a> takes a minute. Everything else is
          in the <a href="/docs/index">index of the documentation</a>.
        </p>
        {!boot.isSignedIn && (
          <p>
            You need an API key: <a href="/signup">how to get one</a>. Without one, get the{' '}
            <a href="/docs?operation=getDemoPrices">demo prices</a>.
          </p>
        )}
      </section>
      <section class="card">
        <Markdown text={document.info.description ?? ''} />
      </section>
    </>
  )
}

const neededOf = (operation: Operation): string =>
  ({ none: 'No key needed', apiKey: 'Needs an API key', adminToken: 'Needs an admin token' })[
    credentialOf(operation) ?? 'none'
  ]

/** Whether a successful response is JSON, and not a file, a text, a stream or empty. */
const answersJson = ({ responses }: Operation, format: string | undefined): boolean =>
  !(format && format !== 'json') &&
  Object.entries(responses).some(
    ([status, { content }]) => status.startsWith('2') && content?.['application/json'],
  )

/** The place of a parameter in a link to a filled-in call: none is named like the operation. */
const linkedName = (name: string): string => `p.${name}`

function One({ listed, document }: { listed: Listed; document: OpenApi }) {
  const { method, path, operation } = listed
  const { parameters = [], requestBody, responses } = operation
  const { query } = useLocation()
  const values = useSignal<Record<string, string>>(
    Object.fromEntries(
      parameters.flatMap(parameter => {
        const linked = query[linkedName(parameter.name)]
        if (linked !== undefined) return [[parameter.name, linked]]
        return isSampled(parameter) ? [[parameter.name, exampleOfParameter(parameter)]] : []
      }),
    ),
  )
  const further = useSignal('')
  const { schema } = requestBody?.content?.['application/json'] ?? {}
  const body = useSignal(query.body ?? bodyOf(operation, document) ?? '')
  const link = () => {
    const search = new URLSearchParams({ operation: listed.id })
    for (const [name, value] of Object.entries(values.value))
      if (value !== '') search.set(linkedName(name), value)
    if (schema) search.set('body', body.value)
    return `${location.origin}/docs?${search}`
  }
  const call = callOf(listed, values.value, schema ? body.value : undefined, further.value)
  const name = (parameter: Parameter) =>
    parameter.in === 'header' ? headerName(parameter.name) : parameter.name
  const good = Object.entries(responses).filter(([status]) => /^2/.test(status))
  const bad = Object.entries(responses).filter(([status]) => /^[45]/.test(status))
  useEffect(() => scrollTo(0, 0), [])
  return (
    <>
      <section class="card" aria-labelledby="operation">
        <h2 id="operation">{operation.summary}</h2>
        <p class="row">
          <Tag>{method}</Tag> <code class="break">{path}</code>
          <span class="quiet small">{neededOf(operation)}</span>
        </p>
        <Markdown text={operation.description ?? ''} />
      </section>
      <section class="card" aria-labelledby="call">
        <header>
          <h2 id="call">Request</h2>
          <Copy text={link} label="Copy link to this call" className="tight" />
        </header>
        {parameters.length > 0 && (
          <div class="stack">
            {parameters.map(parameter => (
              <div class="parameter" key={parameter.name}>
                <label for={`parameter-${parameter.name}`}>
                  <code>{name(parameter)}</code>
                  {(parameter.required || parameter.in === 'path') && ' required'}
                  {parameter.in === 'header' && <span class="quiet small"> header</span>}
                </label>
                <Field
                  parameter={parameter}
                  value={values.value[parameter.name] ?? ''}
                  onChange={value => {
                    values.value = { ...values.value, [parameter.name]: value }
                  }}
                />
                <div class="small quiet">
                  <Inline text={parameter.description ?? parameter.schema?.description ?? ''} />
                </div>
              </div>
            ))}
          </div>
        )}
        {schema && (
          <label>
            Body
            <textarea rows={Math.min(16, body.value.split('\n').length + 1)} {...bound(body)} />
          </label>
        )}
        <label>
          Additional headers, one per line
          <textarea
            rows={Math.max(2, further.value.split('\n').length)}
            {...bound(further)}
            placeholder="Prefer: handling=lenient"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
        </label>
        <Samples call={call} />
        <TryIt
          call={call}
          operation={operation}
          {...(schema && { body: body.value })}
          onHeader={(header, value) => {
            const others = further.value
              .split('\n')
              .filter(line => line.trim() !== '' && !new RegExp(`^${header}:`, 'i').test(line))
            further.value = [...others, `${header}: ${value}`].join('\n')
          }}
        />
      </section>
      {schema && (
        <section class="card" aria-labelledby="body">
          <h2 id="body">Body</h2>
          <Fields schema={schema} document={document} depth={0} />
        </section>
      )}
      {good.map(([status, response]) => (
        <section class="card" key={status} aria-label={`Response ${status}`}>
          <h2>Response {status}</h2>
          {Object.entries(response.content ?? {}).map(([type, { schema: answer, example }]) => (
            <div class="stack" key={type}>
              <span class="code">{type}</span>
              {answer && <Fields schema={answer} document={document} depth={0} />}
              {example !== undefined && <Example of={example} />}
            </div>
          ))}
        </section>
      ))}
      {bad.length > 0 && (
        <section class="card" aria-labelledby="refusals">
          <h2 id="refusals">Errors</h2>
          <dl class="facts">
            {bad.map(([status, response]) => (
              <>
                <dt>{status}</dt>
                <dd>
                  <Inline text={response.description ?? ''} />
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}

/** The beginning of a text, which scrolls. */
const Long = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer is scrolled by keyboard
  <pre class="tall" tabIndex={0}>
    {text.length > shownMax ? `${text.slice(0, shownMax)}\n…` : text}
  </pre>
)

/** An example of the response, for users who read examples before fields. */
function Example({ of }: { of: unknown }) {
  const text = typeof of === 'string' ? of : JSON.stringify(of, null, 2)
  return (
    <details>
      <summary>Example</summary>
      <Long text={text} />
    </details>
  )
}

function callOf(
  { method, path, operation }: Listed,
  values: Record<string, string>,
  body: string | undefined,
  further: string,
): Call {
  const headers = { ...headersIn(further) }
  const search = new URLSearchParams()
  for (const { name, in: place } of operation.parameters ?? [])
    if (values[name]) {
      if (place === 'query') search.set(name, values[name])
      if (place === 'header') headers[headerName(name)] = values[name]
    }
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] ? encodeURIComponent(values[name]) : whole,
  )
  const text = search.toString()
  return {
    method,
    path: text === '' ? filled : `${filled}?${text}`,
    isOpen: credentialOf(operation) === undefined,
    isOperator: credentialOf(operation) === 'adminToken',
    isText: !answersJson(operation, values.format),
    headers,
    ...(body !== undefined && { body: parsedText(body) }),
  }
}

/** Parses headers from lines such as `Prefer: handling=lenient`; other lines are ignored. */
const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*([ -~]*?)\s*$/.exec(line) ?? []
      return name !== undefined && value ? [[name, value]] : []
    }),
  )

const shownMax = 20_000

interface Answered {
  /** 0: there was no answer. */
  status: number
  text: string
  headers: [string, string][]
  ms: number
}

/** Headers of an answer that the next request may name. */
const carriedOn = (headers: readonly [string, string][]): { name: string; value: string }[] =>
  headers.flatMap(([name, value]) => {
    if (name === 'etag') return [{ name: 'If-None-Match', value }]
    return name.endsWith('-sequence') ? [{ name: headerName(name), value }] : []
  })

async function answerTo(call: Call, body: string | undefined): Promise<Answered> {
  const startedAt = performance.now()
  try {
    const response = await fetch(call.path, {
      method: call.method,
      credentials: 'same-origin',
      // A response from the browser's cache would hide the server's.
      cache: 'no-store',
      headers: {
        ...(ownKey.value !== '' && { authorization: `Bearer ${ownKey.value}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const data = parsedText(text)
    const pretty = typeof data === 'string' ? data : JSON.stringify(data, null, 2)
    return {
      status: response.status,
      text: pretty,
      headers: [...response.headers],
      ms: Math.round(performance.now() - startedAt),
    }
  } catch (error) {
    return { status: 0, text: (error as Error).message, headers: [], ms: 0 }
  }
}

/** Makes the call, as the signed-in user or with a key that is typed in. */
function TryIt({
  call,
  operation,
  body,
  onHeader,
}: {
  call: Call
  operation: Operation
  /** Sent as typed: the server refuses invalid JSON. */
  body?: string
  onHeader: (name: string, value: string) => void
}) {
  const answer = useSignal<Answered | undefined>(undefined)
  return (
    <form
      class="stack"
      aria-label="Try it"
      onSubmit={submits(async () => {
        answer.value = await answerTo(call, body)
      })}
    >
      <div class="row end">
        {credentialOf(operation) !== undefined && (
          <OwnKey label={boot.isSignedIn ? 'API key (instead of your session)' : 'Key'} />
        )}
        <Submit>Send</Submit>
      </div>
      {answer.value && <TrialAnswer of={answer.value} onHeader={onHeader} />}
    </form>
  )
}

function TrialAnswer({
  of: { status, headers, text, ms },
  onHeader,
}: {
  of: Answered
  onHeader: (name: string, value: string) => void
}) {
  return (
    <>
      <p role="status">
        <Tag mood={status < 400 && status > 0 ? 'good' : 'bad'}>{status || 'No response'}</Tag>{' '}
        <span class="quiet small">{ms} ms</span>
      </p>
      {headers.length > 0 && (
        <details>
          <summary>Response headers ({headers.length})</summary>
          <dl class="facts small">
            {headers.map(([name, value]) => (
              <Fragment key={name}>
                <dt class="code">{name}</dt>
                <dd class="code break">{value}</dd>
              </Fragment>
            ))}
          </dl>
        </details>
      )}
      {carriedOn(headers).map(({ name, value }) => (
        <p key={name} class="small">
          <button type="button" class="tight" onClick={() => onHeader(name, value)}>
            Use as {name} in the next request
          </button>
        </p>
      ))}
      <Long text={text || 'The response has no body.'} />
    </>
  )
}

const depthMax = 5

function typeOf(schema: Schema, document: OpenApi): string {
  const whole = resolved(schema, document)
  if (whole.enum) return whole.enum.map(value => JSON.stringify(value)).join(' | ')
  const parts = whole.anyOf ?? whole.oneOf
  if (parts) return [...new Set(parts.map(part => typeOf(part, document)))].join(' or ')
  const name =
    whole.type === 'array' && whole.items ? `${typeOf(whole.items, document)}[]` : whole.type
  return `${name ?? 'any'}${whole.format ? ` (${whole.format})` : ''}${whole.nullable ? ' or null' : ''}`
}

/** The inner schema whose fields are shown. */
function fieldsOf(schema: Schema, document: OpenApi): Schema[] {
  const whole = resolved(schema, document)
  if (whole.properties) return [whole]
  if (whole.items) return fieldsOf(whole.items, document)
  return (whole.anyOf ?? whole.oneOf ?? whole.allOf ?? []).flatMap(part => fieldsOf(part, document))
}

function Fields({ schema, document, depth }: { schema: Schema; document: OpenApi; depth: number }) {
  const shapes = fieldsOf(schema, document)
  if (shapes.length === 0) return <p class="code">{typeOf(schema, document)}</p>
  return (
    <>
      {shapes.map((shape, i) => (
        <ul class="fields" key={String(i)}>
          {Object.entries(shape.properties ?? {}).map(([name, field]) => {
            const inner = resolved(field, document)
            const isDeep = depth < depthMax && fieldsOf(field, document).length > 0
            const head = (
              <>
                <code>{name}</code>{' '}
                <span class="quiet small">
                  {typeOf(field, document)}
                  {shape.required?.includes(name) === false && ', optional'}
                </span>
              </>
            )
            const about = inner.description && (
              <div class="small">
                <Inline text={inner.description} />
              </div>
            )
            return (
              <li key={name}>
                {isDeep ? (
                  <details open={depth < 1}>
                    <summary>{head}</summary>
                    {about}
                    <Fields schema={field} document={document} depth={depth + 1} />
                  </details>
                ) : (
                  <>
                    {head}
                    {about}
                  </>
                )}
              </li>
            )
          })}
        </ul>
      ))}
    </>
  )
}

/** An address of another kind than these could run a script. */
const markdown = markdownWith(href => (/^(https?:\/\/|\/|#)/.test(href) ? href : undefined))

const Inline = ({ text }: { text: string }) => (
  <span dangerouslySetInnerHTML={{ __html: markdown.parseInline(text) as string }} />
)

const Markdown = ({ text }: { text: string }) => (
  <div class="prose guide" dangerouslySetInnerHTML={{ __html: markdown.parse(text) as string }} />
)
