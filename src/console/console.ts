import { t } from '../http/answer/schema.ts'
import type { AccessPlugin } from '../http/gate/access.ts'
import type { OperatorSessions } from '../http/gate/operator-sessions.ts'
import { cookieOf, sessionCookieOf } from '../http/gate/session-cookie.ts'
import { parametersPassedOnKey } from '../http/input/known-names.ts'
import { operation } from '../http/operations/operation.ts'
import type { DisplayPreferences } from '../plans/display.ts'
import type { Sessions } from '../topics/account/service/sessions.ts'
import type { SignUp } from '../topics/account/service/sign-up.ts'
import { codesOf } from '../topics/analytics/math/spread.ts'
import type { Catalogue } from '../topics/catalogue/service/catalogue.ts'
import type { Viewers } from '../topics/catalogue/service/viewers.ts'
import { families } from '../topics/futures/math/families.ts'
import type { Keyring } from '../topics/keys/service/keyring.ts'
import { spreads } from '../topics/units/math/identities.ts'
import { contentPolicyOf, documentOf } from './document.ts'
import { type Guides, sampleOrigin } from './guides/guide.ts'
import { firstRequests } from './parts/requests/first.ts'
import { callsPath, operationPath, type PageWithParts, pageParts, pagePaths } from './paths.ts'
import { renewedCookie } from './server/renewed-cookie.ts'

interface ConsoleDeps {
  access: AccessPlugin
  keys: Pick<Keyring, 'account'>
  sessions: Sessions
  catalogue: Pick<Catalogue, 'resolve' | 'list' | 'named' | 'hasData' | 'hasContracts'>
  annotations: { newestOn(): string | undefined }
  viewers: Viewers
  mail: { reaches: boolean }
  textMessages: { reaches: boolean }
  displayPreferences: { of(accountId: string): DisplayPreferences | undefined }
  operators: OperatorSessions
  serviceName: string
  mode: 'serve' | 'dev'
  signUp: Pick<SignUp, 'mode'>
  /** Names that the stream of prices goes by. */
  channels: readonly string[]
  ownUrl(): string
  now: () => number
}

const showing = { open: 'The page is empty; what fills it asks for itself.', rate: 'none' } as const

type Encoding = 'br' | 'gzip'
const encodings: readonly Encoding[] = ['br', 'gzip']

interface ServedFile {
  type: string
  bodies: Record<Encoding | 'plain', Uint8Array<ArrayBuffer>>
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  png: 'image/png',
  woff2: 'font/woff2',
}

/** Files that pages of the documentation link to are read as they are. */
const textType = 'text/plain; charset=utf-8'

/**
 * Unpacked at the first request for a page: an instance without users of the console does not hold
 * the files in memory.
 */
const load = async () => {
  const { bundle } = await import('./files.ts')
  const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
  const files = new Map<string, ServedFile>(
    bundle.files.map(file => [
      file.name,
      {
        type: types[file.name.replace(/^.*\./, '')] ?? textType,
        bodies: { plain: bytes(file.plain), gzip: bytes(file.gzip), br: bytes(file.brotli) },
      },
    ]),
  )
  const { script, style, font, modules, guides } = bundle
  // Pages without a script name it in a style that is written before the bundle is loaded.
  files.set('inter.woff2', files.get(font)!)
  const list = Buffer.from(files.get(guides)!.bodies.plain).toString()
  const listed = (JSON.parse(list) as Guides).pages.map(({ name, section, title }) => {
    return { name, section, title }
  })
  const guideNames = new Set(listed.map(({ name }) => name))
  return { script, style, font, modules, guides, guideNames, listed, files }
}
let loading: ReturnType<typeof load> | undefined
const loaded = () => {
  loading ??= load()
  return loading
}

/** The guides below the headings of their index, as a list of links to their Markdown. */
export async function guideLinks(baseUrl: string): Promise<string> {
  const { listed } = await loaded()
  return [...Map.groupBy(listed, ({ section }) => section)]
    .map(([section, guides]) =>
      [
        `## ${section || 'Documentation'}`,
        '',
        ...guides.map(({ name, title }) => `- [${title}](${baseUrl}/docs/${name}.md)`),
        '',
      ].join('\n'),
    )
    .join('\n')
}

/** A guide as Markdown, with the address of this instance in its samples. */
async function guideAnswer(name: string, origin: string): Promise<Response> {
  const { bundle } = await import('./files.ts')
  const texts = Bun.gunzipSync(Buffer.from(bundle.guideTexts, 'base64'))
  const text = (JSON.parse(Buffer.from(texts).toString()) as Record<string, string>)[name]
  return new Response(text?.replaceAll(sampleOrigin, origin) ?? '', {
    status: text === undefined ? 404 : 200,
    headers: { 'content-type': 'text/markdown; charset=utf-8', 'cache-control': 'no-cache' },
  })
}

/** Returns the document of every page, for any caller. */
export function createPageAnswer(deps: ConsoleDeps): (request: Request) => Promise<Response> {
  const { now } = deps
  const contentPolicy = contentPolicyOf(deps.mode === 'dev')
  return async request => {
    const url = new URL(request.url)
    const { pathname } = url
    const [, guide] = /^\/docs\/([\w-]+)\.md$/.exec(pathname) ?? []
    if (guide !== undefined) return await guideAnswer(guide, deps.ownUrl())
    const { script, style, font, modules, guides, guideNames } = await loaded()
    const token = sessionCookieOf(request)
    const person = token === undefined ? undefined : deps.sessions.find(token)
    const visitor = person ? undefined : await signedInVisitor(deps, request)
    const cookie = person
      ? await renewedCookie(deps.sessions, person.session, deps.ownUrl().startsWith('https:'))
      : visitor?.cookie
    const accountId = person?.session.accountId ?? visitor?.accountId
    const holderId = person?.key.holder.account.id ?? accountId
    if (person) {
      const { account, holder } = person.key
      // Before anything is looked up: whether there is data depends on who asks.
      deps.viewers.set(() => ({ accounts: [account.account.id, holder.account.id] }))
    }
    const hasPrices = (code: string) => {
      const series = deps.catalogue.named(code)
      return series !== undefined && deps.catalogue.hasData(series)
    }
    const html = documentOf(
      {
        service: deps.serviceName,
        isEvaluation: deps.mode === 'dev',
        isSignedIn: accountId !== undefined,
        hasData: deps.catalogue.list().some(deps.catalogue.hasData),
        futures: families
          .map(({ code }) => code)
          .filter(code => hasPrices(code) && deps.catalogue.hasContracts(code)),
        spreads: Object.entries(spreads).flatMap(([type, identities]) =>
          identities.some(identity => codesOf(identity).every(hasPrices)) ? [type] : [],
        ),
        hasEvents: deps.annotations.newestOn() !== undefined,
        role: person?.key.holder.role ?? 'admin',
        ...(holderId !== undefined && { display: deps.displayPreferences.of(holderId) ?? null }),
        isOperator: accountId !== undefined && deps.operators.isOperator(accountId, request),
        signup: deps.signUp.mode,
        reaches: { email: deps.mail.reaches, sms: deps.textMessages.reaches },
        channel: deps.channels[0] ?? '',
        guides: `/console/${guides}`,
        now: now(),
      },
      {
        script,
        style,
        font,
        modules: (accountId === undefined && pathname !== '/docs'
          ? []
          : sourcesOf(pathname, deps.mode === 'dev')
        ).flatMap(source => modules[source] ?? []),
      },
      [
        ...preloaded(url, `/console/${guides}`),
        ...(accountId === undefined ? [] : firstRequests(url, now(), deps.mode === 'dev')),
      ],
    )
    return new Response(html, {
      status: isThere(pathname, guideNames, deps) ? 200 : 404,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'private, no-store',
        'content-security-policy': contentPolicy,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        ...(cookie !== undefined && { 'set-cookie': cookie }),
      },
    })
  }
}

const chartSource = 'parts/charts/market-chart.tsx'

/** The source files of a page that its first view needs besides the main script. */
function sourcesOf(pathname: string, isEvaluation: boolean): string[] {
  const [, page = '', name = ''] = pathname.split('/')
  if (page === '') return isEvaluation ? ['pages/home/demo.tsx', chartSource] : []
  if (page === 'series' && name === 'formulas') return ['pages/series/formulas.tsx']
  return [`pages/${page}.tsx`, ...(page === 'series' && name !== '' ? [chartSource] : [])]
}

const preloaded = ({ pathname, searchParams }: URL, guides: string): string[] => {
  if (pathname !== '/docs') return pathname.startsWith('/docs/') ? [guides] : []
  const id = /^\w*$/.exec(searchParams.get('operation') ?? '')?.[0]
  return [callsPath, guides, ...(id === undefined ? [] : [operationPath(id)])]
}

/**
 * Whether the object in the address of a page exists. Objects of an account are not looked up,
 * because the page requests them with the rights of its user.
 */
function isThere(
  path: string,
  guideNames: ReadonlySet<string>,
  { catalogue, now }: Pick<ConsoleDeps, 'catalogue' | 'now'>,
): boolean {
  const [, page = '', name = ''] = path.split('/')
  if (name === '') return true
  if (page === 'docs') return guideNames.has(name)
  const parts: readonly string[] = Object.hasOwn(pageParts, page)
    ? Object.keys(pageParts[page as PageWithParts])
    : []
  if (parts.includes(name)) return true
  if (page === 'series') return catalogue.resolve(name, now()) !== undefined
  return parts.length === 0
}

/** The pages of the console, which use only the public API. */
export const consoleOperations = (answerPage: (request: Request) => Promise<Response>) => [
  // The documentation is an operation of the API, and is declared with it.
  ...pagePaths
    .filter(path => path !== '/docs')
    .map(path =>
      operation(`GET ${path}`, {
        hidden: true,
        summary: `Console: ${path}`,
        detail: { [parametersPassedOnKey]: true },
        access: showing,
        handle: async ({ request }) => await answerPage(request),
      }),
    ),
  operation('GET /console/:file', {
    hidden: true,
    summary: 'A file of the console',
    access: showing,
    params: { file: t.String() },
    handle: async ({ params, request }) => {
      const file = (await loaded()).files.get(params.file)
      // The address has the hash of the content: an old one names nothing any more.
      if (!file) return new Response('', { status: 404, headers: { 'cache-control': 'no-store' } })
      const accepted = request.headers.get('accept-encoding') ?? ''
      const encoding = encodings.find(name => accepted.includes(name))
      return new Response(file.bodies[encoding ?? 'plain'], {
        headers: {
          'content-type': file.type,
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
          vary: 'accept-encoding',
          ...(encoding && { 'content-encoding': encoding }),
        },
      })
    },
  }),
]

/** A session for a browser that opens a demo instance on the same machine: trying it needs no sign-in. */
async function signedInVisitor(
  { keys, operators, sessions, ownUrl }: ConsoleDeps,
  request: Request,
): Promise<{ accountId: string; cookie: string } | undefined> {
  const accountId = operators.visitorOf(request)
  const account = accountId === undefined ? undefined : keys.account(accountId)
  if (accountId === undefined || !account) return undefined
  const signedIn = await sessions.issue(account, 'link')
  sessions.write(signedIn.session)
  const cookie = cookieOf(signedIn, sessions.now(), ownUrl().startsWith('https:'))
  return { accountId, cookie }
}
