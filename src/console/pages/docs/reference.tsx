import { useEffect, useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Tag } from '../../parts/bits.tsx'
import { boot } from '../../parts/requests/boot.ts'
import { Samples } from '../../parts/samples.tsx'
import { listedOf, type OpenApi } from './document.ts'
import { Inline, Markdown } from './markdown.tsx'
import { One } from './operation.tsx'

export function Reference({ document }: { document: OpenApi }) {
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
