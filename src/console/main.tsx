import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router } from 'preact-iso'
import { Home } from './pages/home.tsx'
import { Missing } from './pages/missing.tsx'
import { Page } from './parts/bits.tsx'
import { Frame } from './parts/frame/frame.tsx'
import { later, NotLoaded } from './parts/later.tsx'
import type { PagePath } from './paths.ts'

/** A page that never loaded has nothing to lose: it reloads by itself once the browser is online. */
function PageNotLoaded() {
  useEffect(() => {
    const reload = () => location.reload()
    addEventListener('online', reload)
    return () => removeEventListener('online', reload)
  }, [])
  return (
    <Page title="Page not loaded">
      <NotLoaded />
    </Page>
  )
}

const page = (load: () => Promise<ComponentType>) => later(load, PageNotLoaded)

const Board = page(() => import('./pages/board.tsx').then(({ Board }) => Board))
const Status = page(() => import('./pages/status.tsx').then(({ Status }) => Status))
const Signup = page(() => import('./pages/signup.tsx').then(({ Signup }) => Signup))
const Alerts = page(() => import('./pages/alerts.tsx').then(({ Alerts }) => Alerts))
const Webhooks = page(() => import('./pages/webhooks.tsx').then(({ Webhooks }) => Webhooks))
const Account = page(() => import('./pages/account.tsx').then(({ Account }) => Account))
const Docs = page(() => import('./pages/docs.tsx').then(({ Docs }) => Docs))
const Market = page(() => import('./pages/market.tsx').then(({ Market }) => Market))
const Commodities = page(() =>
  import('./pages/commodities.tsx').then(({ Commodities }) => Commodities),
)
const Markets = page(() => import('./pages/markets.tsx').then(({ Markets }) => Markets))
const Operator = page(() => import('./pages/operator.tsx').then(({ Operator }) => Operator))
const Desk = page(() => import('./pages/desk.tsx').then(({ Desk }) => Desk))
const Series = page(() => import('./pages/series.tsx').then(({ Series }) => Series))

/** Which component draws which address; every page comes when it is first gone to. */
const pages: Record<PagePath, ComponentType> = {
  '/': Home,
  '/board': Board,
  '/series': Series,
  '/series/:code': Series,
  '/status': Status,
  '/signup': Signup,
  '/commodities': Commodities,
  '/commodities/:part': Commodities,
  '/alerts': Alerts,
  '/alerts/:id': Alerts,
  '/webhooks': Webhooks,
  '/webhooks/:id': Webhooks,
  '/account': Account,
  '/account/:part': Account,
  '/docs': Docs,
  '/docs/:guide': Docs,
  '/market': Market,
  '/markets': Markets,
  '/markets/:part': Markets,
  '/operator': Operator,
  '/operator/:part': Operator,
  '/desk': Desk,
  '/desk/:part': Desk,
}

const isOurs = new RegExp(
  `^(${Object.keys(pages)
    .map(path => path.replace(/:\w+/g, '[^/]+'))
    .join('|')})([?#].*)?$`,
)

let shownPath = location.pathname

/** A choice on a page, which is in its address too, leaves the page where it is. */
function toTop(): void {
  if (location.pathname !== shownPath) scrollTo(0, 0)
  shownPath = location.pathname
}

function Console() {
  return (
    <LocationProvider scope={isOurs}>
      <Frame>
        <ErrorBoundary>
          <Router onRouteChange={toTop}>
            {Object.entries(pages).map(([path, component]) => (
              <Route key={path} path={path} component={component as ComponentType} />
            ))}
            <Route default component={Missing} />
          </Router>
        </ErrorBoundary>
      </Frame>
    </LocationProvider>
  )
}

render(<Console />, document.getElementById('console')!)
