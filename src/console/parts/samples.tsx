import { signal } from '@preact/signals'
import { isSheetPath } from '../../plans/clients/sheet-paths.ts'
import { sampleAdminToken, sampleKey } from '../guides/guide.ts'
import { Copy } from './buttons.tsx'
import { Choice } from './fields.tsx'
import { ownKey } from './person/own-key.ts'

const languages = ['curl', 'python', 'typescript', 'excel'] as const
export type Language = (typeof languages)[number]

const names: Record<Language, string> = {
  curl: 'curl',
  python: 'Python',
  typescript: 'TypeScript',
  excel: 'Excel',
}

export interface Call {
  method: string
  /** With its query. */
  path: string
  body?: unknown
  /** Headers in addition to those for the key and the body. */
  headers?: Readonly<Record<string, string>>
  /** Needs no key. */
  isOpen?: boolean
  /** Needs an admin token instead of a key. */
  isOperator?: boolean
  /** The response is a file, a text or empty. */
  isText?: boolean
}

const shellText = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const pythonWords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** Texts may contain these words too. */
const pythonOf = (value: unknown): string =>
  JSON.stringify(value, null, 4).replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    part => pythonWords[part] ?? part,
  )

/** Chosen once for all samples. */
const language = signal<Language>('curl')

/** The same call in each language of the samples. */
export function sampleOf(language: Language, call: Call, key: string): string {
  const { method, path, body, headers = {}, isOpen = false, isOperator, isText } = call
  const own = Object.entries(headers)
  const credential = `${isOperator ? 'Bearer' : 'Token'} ${key}`
  const url = `${location.origin}${path}`
  if (language === 'curl')
    return [
      `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
      ...(isOpen ? [] : [`  -H "Authorization: ${credential}"`]),
      ...own.map(([name, value]) => `  -H ${shellText(`${name}: ${value}`)}`),
      ...(body === undefined
        ? []
        : ['  -H "Content-Type: application/json"', `  -d ${shellText(JSON.stringify(body))}`]),
    ].join(' \\\n')
  if (language === 'python') {
    const headers = [
      ...(isOpen ? [] : [`"Authorization": "${credential}"`]),
      ...own.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    ]
    return [
      'import requests',
      '',
      `answer = requests.request(`,
      `    "${method}",`,
      `    "${url}",`,
      ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},`]),
      ...(body === undefined ? [] : [`    json=${pythonOf(body).replaceAll('\n', '\n    ')},`]),
      `    timeout=30,`,
      `)`,
      'answer.raise_for_status()',
      isText ? 'print(answer.text)' : 'print(answer.json())',
    ].join('\n')
  }
  if (language === 'typescript') {
    const headers = [
      ...(isOpen ? [] : [`    authorization: '${credential}',`]),
      ...(body === undefined ? [] : [`    'content-type': 'application/json',`]),
      ...own.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    ]
    const options = [
      ...(method === 'GET' ? [] : [`  method: '${method}',`]),
      ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
      ...(body === undefined
        ? []
        : [`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
    ]
    return [
      options.length === 0
        ? `const answer = await fetch('${url}')`
        : [`const answer = await fetch('${url}', {`, ...options, '})'].join('\n'),
      'if (!answer.ok) throw new Error(await answer.text())',
      `console.log(await answer.${isText ? 'text' : 'json'}())`,
    ].join('\n')
  }
  if (method !== 'GET' || isText || !isSheetPath(path.split('?')[0]!))
    return 'A formula cannot read this path. Use Power Query with Web.Contents, or one of the clients.'
  return `=WEBSERVICE("${location.origin}/v1/excel/run.xml?path=" & ENCODEURL("${path}") & "&api_key=${key}")`
}

/** One call, in the language that the reader chooses, with the key that they typed in. */
export function Samples({ call }: { call: Call }) {
  const key = call.isOperator ? sampleAdminToken : ownKey.value || sampleKey
  const text = sampleOf(language.value, call, key)
  return (
    <div class="stack">
      <div class="row spread">
        <Choice
          label="Language of the sample"
          of={language}
          options={languages.map(value => ({ value, text: names[value] }))}
        />
        <Copy text={text} className="tight" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide sample is scrolled by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}
