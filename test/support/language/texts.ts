import { join } from 'node:path'

/** A piece of text that a person reads, and where it is written. */
export interface Text {
  file: string
  line: number
  area: Area
  kind: 'string' | 'comment' | 'prose' | 'name'
  text: string
}

export const areas = [
  'docs',
  'bench',
  'console',
  'mail',
  'cli',
  'api',
  'messages',
  'comments',
  'tests',
] as const
export type Area = (typeof areas)[number]

const root = join(import.meta.dir, '../../..')

const glob = (pattern: string) =>
  [...new Bun.Glob(pattern).scanSync({ cwd: root })].filter(
    file => !file.includes('node_modules/') && !file.startsWith('dist/'),
  )

const areaOf = (file: string): Area => {
  if (file.startsWith('test/')) return 'tests'
  if (file.startsWith('src/console/')) return 'console'
  if (/^src\/(?:topics\/messages|send\/(?:messages|notices))\/|mail|invitation/.test(file))
    return 'mail'
  if (file.startsWith('bench/')) return 'bench'
  if (file.startsWith('src/cli/')) return 'cli'
  if (/^src\/topics\/[^/]+\/operations\/|^src\/http\/openapi\//.test(file)) return 'api'
  return 'messages'
}

/** Code in prose is written for a machine. */
const withoutCode = (text: string) =>
  text
    .replace(/```[\s\S]*?```/g, block => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, span => span.replace(/[^\n]/g, '·'))
    .replace(/\]\([^)\n]*\)/g, link => link.replace(/[^\n]/g, '·'))

function proseOf(file: string, content: string): Text[] {
  const area = file.startsWith('bench/') ? 'bench' : 'docs'
  return withoutCode(content)
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, area, kind: 'prose', text }) as const)
    .filter(({ text }) => /[a-z]/i.test(text))
}

/** Whether a literal is a text: words with a space between them, or a label with a capital. */
const isSentence = (text: string) => /[A-Za-z]{2,}.*\s.*[A-Za-z]/.test(text)

interface Token {
  kind: 'string' | 'comment'
  start: number
  text: string
}

const regexMayFollow = /(?:^|[=(,:;!&|?{}[+\-*%<>~]|\breturn|\btypeof|\bcase)$/

/**
 * The strings and comments of a TypeScript source. A template is one text, with an ellipsis for
 * each expression; strings within the expressions are texts of their own.
 */
function tokensOf(code: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  /** Reads code up to the brace that closes an expression of a template, or to the end. */
  const readCode = (inTemplate: boolean): void => {
    let depth = 0
    let before = ''
    while (at < code.length) {
      const char = code[at]!
      const two = code.slice(at, at + 2)
      if (two === '//' && code[at - 1] !== ':') {
        const end = code.indexOf('\n', at)
        const stop = end < 0 ? code.length : end
        tokens.push({ kind: 'comment', start: at, text: code.slice(at + 2, stop).trim() })
        at = stop
      } else if (two === '/*') {
        const end = code.indexOf('*/', at)
        tokens.push({ kind: 'comment', start: at, text: commentText(code.slice(at, end)) })
        at = end + 2
      } else if (char === '/' && regexMayFollow.test(before)) {
        readRegex()
        before = ')'
      } else if (char === "'" || char === '"') {
        readString(char)
        before = ')'
      } else if (char === '`') {
        readTemplate()
        before = ')'
      } else {
        if (char === '{') depth += 1
        if (char === '}') {
          if (depth === 0 && inTemplate) return
          depth -= 1
        }
        if (!/\s/.test(char)) before = (before + char).slice(-7)
        else if (/\w$/.test(before) && !/(?:return|typeof|case)$/.test(before)) before += ' '
        at += 1
      }
    }
  }
  const readRegex = () => {
    let isClass = false
    for (at += 1; at < code.length && code[at] !== '\n'; at += 1) {
      if (code[at] === '\\') at += 1
      else if (code[at] === '[') isClass = true
      else if (code[at] === ']') isClass = false
      else if (code[at] === '/' && !isClass) break
    }
    at += 1
  }
  const readString = (quote: string) => {
    const start = at
    // An apostrophe in the text between two tags is not the start of a string.
    const literal = new RegExp(`${quote}(?:[^\\\\\\n${quote}]|\\\\[^])*${quote}`, 'y')
    literal.lastIndex = at
    const match = literal.exec(code)
    at += match ? match[0].length : 1
    if (match)
      tokens.push({
        kind: 'string',
        start,
        text: match[0].slice(1, -1).replace(/\\(.)/g, unescaped),
      })
  }
  const readTemplate = () => {
    const start = at
    let text = ''
    at += 1
    while (at < code.length && code[at] !== '`') {
      if (code[at] === '\\') {
        text += code[at + 1]
        at += 2
      } else if (code.startsWith('${', at)) {
        text += '…'
        at += 2
        readCode(true)
        at += 1
      } else {
        text += code[at]
        at += 1
      }
    }
    at += 1
    tokens.push({ kind: 'string', start, text })
  }
  readCode(false)
  return tokens
}

const unescaped = (_: string, char: string) => (char === 'n' ? '\n' : char)

const commentText = (text: string) =>
  text
    .replace(/^\/\*\*?/, '')
    .replace(/\n\s*\*? ?/g, ' ')
    .trim()

/** The texts between tags. */
const markupOf = (content: string): { start: number; text: string }[] =>
  [...content.matchAll(/(?<=[>}])[^<>{}=;()`]*[A-Za-z]{2}[^<>{}=;()`]*(?=[<{])/g)]
    .filter(([text]) => !/^\s*(?:else|const|return|function|export|case)\b/.test(text))
    .map(match => ({ start: match.index, text: match[0].replace(/\s+/g, ' ').trim() }))

const isSql = (text: string) => /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WHERE)\b/.test(text)

function codeOf(file: string, content: string): Text[] {
  const area = areaOf(file)
  const lineAt = lineFinder(content)
  const tokens = tokensOf(content)
  const strings = tokens
    .filter(({ kind, text }) => kind === 'string' && isSentence(text) && !isSql(text))
    .concat(
      file.endsWith('.tsx')
        ? markupOf(content).map(text => ({ ...text, kind: 'string' as const }))
        : [],
    )
    .map(({ start, text }): Text => ({ file, line: lineAt(start), area, kind: 'string', text }))
  const comments = tokens
    .filter(({ kind }) => kind === 'comment')
    .map(
      ({ start, text }): Text => ({
        file,
        line: lineAt(start),
        area: area === 'tests' ? 'tests' : 'comments',
        kind: 'comment',
        text,
      }),
    )
  return [...strings, ...merged(comments)]
}

function lineFinder(content: string): (position: number) => number {
  const ends = [...content.matchAll(/\n/g)].map(({ index }) => index)
  return position => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! < position) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

/** Consecutive line comments are one comment. */
function merged(texts: readonly Text[]): Text[] {
  const whole: (Text & { last: number })[] = []
  for (const text of texts) {
    const previous = whole.at(-1)
    if (previous && previous.last === text.line - 1) {
      previous.text = `${previous.text} ${text.text}`
      previous.last = text.line
    } else whole.push({ ...text, last: text.line })
  }
  return whole
}

/** The comments of files in which a comment is a line that begins with a hash sign or two dashes. */
const scriptOf = (file: string, content: string): Text[] =>
  merged(
    content
      .split('\n')
      .map((text, i): Text => ({ file, line: i + 1, area: 'comments', kind: 'comment', text }))
      .filter(({ text }) => /^\s*(?:#|--) /.test(text))
      .map(comment => ({ ...comment, text: comment.text.trim().replace(/^\S+ /, '') })),
  )

/** Every text of the product, from the files that it is written in. */
export async function allTexts(): Promise<Text[]> {
  const prose = ['*.md', 'docs/**/*.md', 'packaging/**/*.md', 'bench/*.md', 'clients/*/README.md']
    .flatMap(glob)
    .filter(file => file !== 'CHANGELOG.md')
  const code = ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'scripts/**/*.ts', 'bench/**/*.ts']
    .flatMap(glob)
    .filter(file => !/^test\/(?:support\/)?language/.test(file))
  const scripts = [
    'Dockerfile',
    'packaging/**/*.{sh,toml,yaml,yml,service}',
    'docs/**/*.{yaml,yml}',
    '*.sql',
    'src/**/*.sql',
  ]
    .flatMap(glob)
    .concat('packaging/postinst', 'packaging/postrm', 'packaging/prerm')
  const read = (file: string) => Bun.file(join(root, file)).text()
  const texts = await Promise.all([
    ...prose.map(async file => proseOf(file, await read(file))),
    ...scripts.map(async file => scriptOf(file, await read(file))),
    ...code.map(async file => codeOf(file, await read(file))),
  ])
  return texts.flat()
}
