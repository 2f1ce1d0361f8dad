import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

type Claims = JWTPayload & Record<string, unknown>

/** The token endpoint's response, by the nonce of the sign-in that the code belongs to. */
export type Answer = (nonce: string) => Promise<object> | object

/** An identity provider whose responses a test chooses, invalid ones included. */
export async function startIdentityProvider(now: () => number) {
  let keyId = 'first'
  let pair = await generateKeyPair('RS256', { extractable: true })
  let discovery: Record<string, unknown> = {}
  let hasKeys = true
  let registered: { redirectUri: string; secret: string } | undefined
  const answers = new Map<string, { nonce: string; answer: Answer }>()
  const forms: URLSearchParams[] = []
  const server: Bun.Server<unknown> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request): Promise<Response> {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/.well-known/openid-configuration')
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          ...discovery,
        })
      if (pathname === '/keys')
        return Response.json({
          keys: !hasKeys
            ? []
            : [{ ...(await exportJWK(pair.publicKey)), kid: keyId, alg: 'RS256', use: 'sig' }],
        })
      if (pathname === '/authorize') {
        const redirectUri = searchParams.get('redirect_uri')
        if (registered && redirectUri !== registered.redirectUri)
          return new Response('The redirect address is not registered.', { status: 400 })
        return Response.redirect(`${redirectUri}?error=login_required`, 302)
      }
      const [, secret = ''] = atob(
        request.headers.get('authorization')?.replace('Basic ', '') ?? '',
      ).split(':')
      if (registered && secret !== registered.secret)
        return Response.json({ error: 'invalid_client' }, { status: 401 })
      const form = new URLSearchParams(await request.text())
      forms.push(form)
      const waiting = answers.get(form.get('code') ?? '')
      answers.delete(form.get('code') ?? '')
      if (!waiting) return Response.json({ error: 'invalid_grant' }, { status: 400 })
      return Response.json(await waiting.answer(waiting.nonce))
    },
  })
  const issuer: string = `http://127.0.0.1:${server.port}`
  const seconds = () => Math.floor(now() / 1000)
  return {
    issuer,
    forms,
    stop: () => server.stop(true),
    publicKey: () => pair.publicKey,
    /** Claims of an ID token in which nothing is wrong. */
    claims: (nonce: string, more: Claims = {}): Claims => ({
      iss: issuer,
      aud: 'wellhead',
      sub: 'person-1',
      email: 'ada@example.com',
      email_verified: true,
      nonce,
      iat: seconds(),
      exp: seconds() + 300,
      ...more,
    }),
    sign: (claims: Claims, header: Record<string, unknown> = {}, key = pair.privateKey) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: keyId, ...header } as never)
        .sign(key),
    /** A code that the token endpoint redeems once. */
    code(nonce: string, answer: Answer): string {
      const code = `code-${answers.size}-${forms.length}-${nonce.slice(0, 8)}`
      answers.set(code, { nonce, answer })
      return code
    },
    async rotate() {
      keyId = 'second'
      pair = await generateKeyPair('RS256', { extractable: true })
    },
    /** Knows the client by this secret and redirect address only. */
    register(client: { redirectUri: string; secret: string }) {
      registered = client
    },
    loseKeys() {
      hasKeys = false
    },
    describe(more: Record<string, unknown>) {
      discovery = more
    },
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>
