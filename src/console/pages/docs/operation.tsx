import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Tag } from '../../parts/bits.tsx'
import { Copy } from '../../parts/buttons.tsx'
import { parsedText } from '../../parts/requests/ask.ts'
import { type Call, Samples } from '../../parts/samples.tsx'
import { bound } from '../../parts/text/form.ts'
import {
  bodyOf,
  credentialOf,
  exampleOfParameter,
  headerName,
  isSampled,
  type Listed,
  type OpenApi,
  type Operation,
  type Parameter,
} from './document.ts'
import { Field } from './field.tsx'
import { Inline, Markdown } from './markdown.tsx'
import { Fields } from './schema-fields.tsx'
import { Long, TryIt } from './try-it.tsx'

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

export function One({ listed, document }: { listed: Listed; document: OpenApi }) {
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
