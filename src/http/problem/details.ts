import { pathOf } from '../request-path.ts'
import { type Problem, type ProblemContext, problemBody, problemHeaders } from './problem.ts'

const problemType = 'application/problem+json'

/** The body of an error, as problem details (RFC 9457) for clients that accept them. */
export function bodyFor(
  request: Request,
  problem: Problem,
  context: ProblemContext,
  headers: Record<string, string | number>,
): Record<string, unknown> {
  const body = problemBody(problem, context)
  if (!(request.headers.get('accept') ?? '').toLowerCase().includes(problemType)) return body
  headers['content-type'] = problemType
  return {
    ...body,
    type: `${context.docsUrl}#${problem.code}`,
    title: problem.code,
    status: problem.status,
    detail: problem.message,
    // A malformed Host leaves no address to read a path from.
    ...(URL.canParse(request.url) && { instance: pathOf(request) }),
  }
}

/** The response for an error, where the framework does not send it. */
export function problemResponse(
  request: Request,
  problem: Problem,
  context: ProblemContext,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers: Record<string, string> = {
    ...problemHeaders(problem),
    ...more,
    'x-request-id': context.requestId,
  }
  const body = bodyFor(request, problem, context, headers)
  return Response.json(body, { status: problem.status, headers })
}
