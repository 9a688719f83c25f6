/* A client of types that are generated from the OpenAPI document: token, create, read, change, conditions, a query with
an operator, a refusal with its reason, delete. It prints what it saw as JSON. */

import createClient from "openapi-fetch";
import type { components, paths } from "./resources.js";

type Student = components["schemas"]["edFi_student"];

declare const process: { env: Record<string, string> };
const { BASE_URL, API_KEY, API_SECRET } = process.env;

const tokenAnswer = await fetch(`${BASE_URL}/oauth/token`, {
  method: "POST",
  headers: { Authorization: `Basic ${btoa(`${API_KEY}:${API_SECRET}`)}` },
  body: new URLSearchParams({ grant_type: "client_credentials" }),
});
const token: string = (await tokenAnswer.json()).access_token;
const client = createClient<paths>({
  baseUrl: `${BASE_URL}/data`,
  headers: { Authorization: `Bearer ${token}` },
});

const student: Student = {
  studentUniqueId: "910001",
  firstName: "Mae",
  lastSurname: "Ortiz",
  birthDate: "2010-02-03",
};
const created = await client.POST("/ed-fi/students", { body: student });
const id = created.response.headers.get("Location")!.split("/").pop()!;
const read = await client.GET("/ed-fi/students/{id}", { params: { path: { id } } });
const etag = read.response.headers.get("ETag")!;
const changed = await client.PUT("/ed-fi/students/{id}", {
  params: { path: { id }, header: { "If-Match": etag } },
  body: { ...read.data!, middleName: "June" },
});
const late = await client.PUT("/ed-fi/students/{id}", {
  params: { path: { id }, header: { "If-Match": etag } },
  body: { ...read.data!, middleName: "May" },
});
const found = await client.GET("/ed-fi/students", {
  params: { query: { comparisons: ["birthDate[gte]=2010-02-03", "birthDate[lt]=2010-02-04"] } },
});
const refused = await client.POST("/ed-fi/students", { body: { ...student, birthDate: "2010-02-30" } });
const deleted = await client.DELETE("/ed-fi/students/{id}", { params: { path: { id } } });

console.log(
  JSON.stringify({
    created: created.response.status,
    members: Object.keys(read.data!).sort(),
    changed: changed.response.status,
    late: late.response.status,
    found: found.data!.map((each) => [each.studentUniqueId, each.middleName ?? null]),
    refused: refused.response.status,
    reason: refused.error!.validationErrors,
    deleted: deleted.response.status,
  }),
);
