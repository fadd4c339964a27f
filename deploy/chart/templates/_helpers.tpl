{{- define "portolan.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* Names end in -0, -headless and hashes of a revision, so they are shorter than a DNS label may be. */ -}}
{{- define "portolan.fullname" -}}
{{- $name := include "portolan.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "portolan.selectorLabels" -}}
app.kubernetes.io/name: {{ include "portolan.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* Of the aggregated API server. The Service of the gateway must not select its Pods. */ -}}
{{- define "portolan.aggregateSelectorLabels" -}}
app.kubernetes.io/name: {{ include "portolan.name" . }}-aggregate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "portolan.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "portolan.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* Metadata of an object of the namespace: the parameter is (list $ "suffix of the name"). */ -}}
{{- define "portolan.metadata" -}}
{{- $ := first . -}}
name: {{ include "portolan.fullname" $ }}{{ last . }}
namespace: {{ $.Release.Namespace }}
labels:
  {{- include "portolan.labels" $ | nindent 2 }}
{{- end -}}

{{- /* Names of objects of the whole cluster have the namespace, so that releases of several namespaces do not meet. */ -}}
{{- define "portolan.clusterName" -}}
{{- $full := include "portolan.fullname" . -}}
{{- ternary $full (printf "%s-%s" .Release.Namespace $full) (eq $full .Release.Namespace) -}}
{{- end -}}

{{- define "portolan.serviceAccountName" -}}
{{- default (ternary (include "portolan.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{- /* Name of the objects of the aggregated API server, its account among them. */ -}}
{{- define "portolan.aggregateName" -}}
{{- include "portolan.fullname" . }}-aggregate
{{- end -}}

{{- define "portolan.aggregateLabels" -}}
{{- merge (include "portolan.aggregateSelectorLabels" . | fromYaml) (include "portolan.labels" . | fromYaml) | toYaml -}}
{{- end -}}

{{- define "portolan.aggregateMetadata" -}}
name: {{ include "portolan.aggregateName" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "portolan.aggregateLabels" . | nindent 2 }}
{{- end -}}

{{- /* The user that its account is. */ -}}
{{- define "portolan.aggregateUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "portolan.aggregateName" . }}
{{- end -}}

{{- define "portolan.apiServiceName" -}}
{{ .Values.aggregate.version }}.{{ .Values.aggregate.group }}
{{- end -}}

{{- /* The Secret with the certificate; empty where Portolan makes it. */ -}}
{{- define "portolan.aggregateSecret" -}}
{{- with .Values.aggregate.certificates -}}
{{- if eq .from "secret" }}{{ .secret }}{{ else if eq .from "certManager" }}{{ include "portolan.aggregateName" $ }}-tls{{ end -}}
{{- end -}}
{{- end -}}

{{- define "portolan.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portolan.scheme" -}}
{{- ternary "https" "http" (not (empty .Values.tls.secret)) -}}
{{- end -}}

{{- /* Whether there may be more than one Pod: "true" or nothing. */ -}}
{{- define "portolan.several" -}}
{{- if .Values.autoscaling.enabled }}{{ if gt (int .Values.autoscaling.maxReplicas) 1 }}true{{ end }}{{ else if gt (int .Values.replicas) 1 }}true{{ end -}}
{{- end -}}

{{- /* Volumes of Secrets: `name: Secret`, mounted at /etc/portolan-name. */ -}}
{{- define "portolan.secretVolumes" -}}
{{- $secrets := dict "tls" .Values.tls.secret "client-ca" .Values.tls.clientCa.secret "proxy-ca" .Values.tls.proxyClientCa.secret "clusters" .Values.kubeconfig.secret "plan-key" .Values.planKey.secret -}}
{{- range $name, $secret := $secrets }}
{{- if $secret }}
{{ $name }}: {{ $secret }}
{{- end }}
{{- end }}
{{- end -}}
