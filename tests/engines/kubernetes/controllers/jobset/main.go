// The controller and the webhooks of JobSet for tests: see control_plane.py.
package main

import (
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	port, err := strconv.Atoi(os.Getenv("WEBHOOK_PORT"))
	must(err)
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(jobset.AddToScheme(scheme))
	ctrl.SetLogger(zap.New())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Getenv("CERT_DIR")}),
	})
	must(err)
	ctx := ctrl.SetupSignalHandler()
	must(controllers.SetupJobSetIndexes(ctx, mgr.GetFieldIndexer()))
	must(controllers.SetupPodIndexes(ctx, mgr.GetFieldIndexer()))
	must(controllers.NewJobSetReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("jobset")).SetupWithManager(mgr))
	must(controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("pod")).SetupWithManager(mgr))
	must(webhooks.Setup(mgr))
	must(mgr.Start(ctx))
}
