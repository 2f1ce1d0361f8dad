import type { UnknownPages } from '../../http/base.ts'
import type { Operations } from '../../http/operations/operation.ts'
import { consoleOperations, createPageAnswer } from '../console.ts'
import { companySignInOperations } from './account/company-sign-in.ts'
import { connectOperations } from './account/connect.ts'
import { signInOperations } from './account/sign-in.ts'
import { billingPortalOperations } from './billing/portal.ts'
import { docsOperations } from './docs/docs.ts'
import { modelOperations } from './docs/llms.ts'
import { recipientOperations } from './messages/recipients.ts'

interface WebOptions {
  /** Returns the OpenAPI document. */
  document(): Promise<string>
  /** Gets the page for addresses that nothing is behind. */
  pages: UnknownPages
}

/** Pages for people. */
export const operations: Operations<WebOptions> = [
  (context, { document, pages }) => {
    const answerPage = createPageAnswer({
      ...context,
      mode: context.config.mode,
      channels: context.config.brand.streamChannels,
    })
    pages.answer = answerPage
    return [
      ...signInOperations(context),
      ...(context.company ? companySignInOperations(context.company, context) : []),
      ...connectOperations(context),
      ...consoleOperations(answerPage),
      ...billingPortalOperations(context),
      ...recipientOperations(context),
      ...modelOperations(context),
      ...docsOperations({
        serviceName: context.serviceName,
        headerPrefix: context.headerPrefix,
        document,
        reference: answerPage,
      }),
    ]
  },
]
