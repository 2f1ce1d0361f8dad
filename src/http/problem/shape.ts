import { t } from '../answer/schema.ts'

const links = {
  request_id: t.Optional(t.String({ examples: ['6f9619ff-8b86-4d01-b42d-00c04fc964ff'] })),
  docs_url: t.Optional(t.String({ examples: ['https://prices.example.com/docs#UNAUTHORIZED'] })),
}
const code = (example: string) => t.string('Stable code of the error.', example)
const message = t.string('What is wrong, and how to correct it.', 'The API key is not valid.')

/** Bodies of refusals, for the documentation. Each may carry further fields, named by its code. */
export const NestedProblem = t.Object(
  {
    error: t.Object(
      { code: code('UNAUTHORIZED'), message, status: t.integer({ examples: [401] }), ...links },
      { additionalProperties: true },
    ),
  },
  {
    title: 'Problem',
    description:
      'An error: `code` identifies it, and `message` says what is wrong and how to correct it.',
  },
)

export const OverloadProblem = {
  ...NestedProblem,
  description:
    '`OVERLOADED`: too many heavy requests are waiting; prices are still served. `QUERY_WORKER_UNAVAILABLE`: the worker for this request ended or was not ready in time. Send the request again after the seconds in `Retry-After`.',
}

const FailProblem = t.Object(
  {
    status: t.Literal('fail'),
    code: code('invalid_code'),
    message,
    ...links,
    data: t.Object({ error: code('invalid_code'), message }, { additionalProperties: true }),
  },
  {
    title: 'FailProblem',
    additionalProperties: true,
    description: 'An error about commodity codes or intervals.',
  },
)

/** The 400 errors of operations that take commodity codes. */
export const CodeProblem = t.Union([FailProblem, NestedProblem])

export const FlatProblem = t.Object(
  {
    error: message,
    error_code: code('RATE_LIMIT_EXCEEDED'),
    code: code('RATE_LIMIT_EXCEEDED'),
    message,
    ...links,
  },
  {
    title: 'LimitProblem',
    additionalProperties: true,
    description: 'A quota or rate limit; branch on `error_code`.',
  },
)

export const ValidationProblem = t.Object(
  {
    error: code('validation_failed'),
    error_code: code('validation_failed'),
    code: code('validation_failed'),
    message,
    field: t.orNull(t.String()),
    errors: t.Array(
      t.Object({ field: t.String(), message: t.String() }, { additionalProperties: true }),
    ),
    request_id: t.Optional(t.String()),
  },
  {
    title: 'ValidationProblem',
    additionalProperties: true,
    description: 'A body that does not fit, field by field, or a state that forbids the operation.',
  },
)

export const CatalogProblem = t.Object(
  {
    status: t.Literal('fail'),
    code: code('COMMODITY_NOT_FOUND'),
    message,
    error: t.Object(
      {
        code: code('COMMODITY_NOT_FOUND'),
        message,
        status: t.integer({ examples: [404] }),
        commodity_code: t.string('The requested name.', 'GASOLNE_USD'),
        suggestions: t.Array(t.String({ examples: ['GASOLINE_USD'] }), {
          description: 'Known codes near to it, closest first.',
        }),
        ...links,
      },
      { additionalProperties: true },
    ),
  },
  {
    title: 'CommodityProblem',
    additionalProperties: true,
    description: 'The catalogue has no such code.',
  },
)
