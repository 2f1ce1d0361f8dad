import { type ComponentType, render } from 'preact'
import { ErrorBoundary, LocationProvider, lazy, Route, Router } from 'preact-iso'
import { Home } from './pages/home.tsx'
import { Missing } from './pages/missing.tsx'
import { Frame } from './parts/frame/frame.tsx'
import type { PagePath } from './paths.ts'

const Board = lazy(() => import('./pages/board.tsx').then(page => page.Board))
const Status = lazy(() => import('./pages/status.tsx').then(page => page.Status))
const Signup = lazy(() => import('./pages/signup.tsx').then(page => page.Signup))
const Alerts = lazy(() => import('./pages/alerts.tsx').then(page => page.Alerts))
const Webhooks = lazy(() => import('./pages/webhooks.tsx').then(page => page.Webhooks))
const Account = lazy(() => import('./pages/account.tsx').then(page => page.Account))
const Docs = lazy(() => import('./pages/docs.tsx').then(page => page.Docs))
const Market = lazy(() => import('./pages/market.tsx').then(page => page.Market))
const Commodities = lazy(() => import('./pages/commodities.tsx').then(page => page.Commodities))
const Markets = lazy(() => import('./pages/markets.tsx').then(page => page.Markets))
const Operator = lazy(() => import('./pages/operator.tsx').then(page => page.Operator))
const Desk = lazy(() => import('./pages/desk.tsx').then(page => page.Desk))
const Series = lazy(() => import('./pages/series.tsx').then(page => page.Series))

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
